import type { About } from '../../about.ts'

export const about = {
  tables: {
    record_views: { exported: 'record_views' },
  },
} as const satisfies About
