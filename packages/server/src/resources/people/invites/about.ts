import type { About } from '../../about.ts'

export const about = {
  tables: {
    invites: { exported: 'invites' },
  },
} as const satisfies About
