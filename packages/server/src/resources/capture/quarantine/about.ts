import type { About } from '../../about.ts'

export const about = {
  tables: {
    quarantined_requests: {
      leftOut:
        'Sealed requests that nobody has proven to come from the sender, which are deleted after 72 hours at most.',
      sealed: ['request'],
    },
  },
} as const satisfies About
