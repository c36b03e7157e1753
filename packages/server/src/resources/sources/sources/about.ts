import type { About } from '../../about.ts'

export const about = {
  tables: {
    sources: { exported: 'sources', sealed: ['secret'] },
  },
} as const satisfies About
