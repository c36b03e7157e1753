import type { About } from '../../about.ts'

export const about = {
  tables: {
    submissions: { exported: 'submissions' },
  },
} as const satisfies About
