import type { About } from '../../about.ts'

export const about = {
  tables: {
    replays: { exported: 'replays' },
  },
} as const satisfies About
