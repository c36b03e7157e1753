import type { About } from '../../about.ts'

export const about = {
  tables: {
    sessions: { leftOut: 'Hashes of the secrets that sign people in.' },
  },
} as const satisfies About
