import type { About } from '../../about.ts'

export const about = {
  tables: {
    portals: { exported: 'portals' },
  },
} as const satisfies About
