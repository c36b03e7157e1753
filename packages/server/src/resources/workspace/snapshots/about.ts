import type { About } from '../../about.ts'

export const about = {
  tables: {
    deletions: { sealed: ['snapshot'] },
  },
} as const satisfies About
