import type { About } from '../../about.ts'

export const about = {
  tables: {
    deletions: {
      leftOut: 'Sealed copies of deleted resources, which are erased after 24 hours.',
      sealed: ['snapshot'],
    },
  },
} as const satisfies About
