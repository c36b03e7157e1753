import type { About } from '../../about.ts'

export const about = {
  tables: {
    search_blocks: { leftOut: 'The search index of the events above, made from their content.' },
  },
} as const satisfies About
