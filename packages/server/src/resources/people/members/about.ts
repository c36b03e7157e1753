import type { About } from '../../about.ts'

export const about = {
  tables: {
    members: { exported: 'members' },
  },
} as const satisfies About
