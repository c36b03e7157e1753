import type { About } from '../../about.ts'

export const about = {
  tables: {
    lanes: { leftOut: 'The current sender of each destination, and its breaker.' },
    orphaned_requests: {
      leftOut: 'Requests that a dead sender may have in progress, for the minute that they can last.',
    },
  },
} as const satisfies About
