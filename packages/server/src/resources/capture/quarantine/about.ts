import type { About } from '../../about.ts'

export const about = {
  tables: {
    quarantined_requests: { sealed: ['request'] },
  },
} as const satisfies About
