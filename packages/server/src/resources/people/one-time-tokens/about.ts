import type { About } from '../../about.ts'

export const about = {
  tables: {
    one_time_tokens: { leftOut: 'Hashes of links that sign people in.' },
  },
} as const satisfies About
