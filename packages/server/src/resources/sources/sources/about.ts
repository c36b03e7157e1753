import type { About } from '../../about.ts'

export const about = {
  tables: {
    sources: { exported: 'sources', sealed: ['secret'], unconfigured: { kind: 'source' } },
  },
} as const satisfies About
