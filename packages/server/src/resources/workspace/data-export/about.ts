import type { About } from '../../about.ts'

export const about = {
  tables: {
    data_exports: { leftOut: 'Exports themselves.' },
    data_export_chunks: { leftOut: 'Files of exports.' },
  },
} as const satisfies About
