import type { About } from '../../about.ts'

export const about = {
  tables: {
    portals: { exported: 'portals', unconfigured: { kind: 'portal' } },
  },
} as const satisfies About
