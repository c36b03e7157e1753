import type { About } from '../../about.ts'
import { type dataExport, DataExport } from './data-export.ts'

export const about = {
  text: 'Exports of the whole workspace as one zip.',
  refusals: {
    create: ['export_running', 'export_limit_reached'],
    download: ['invalid_state', 'export_over', 'range_not_satisfiable'],
  },
  schemas: { DataExport },
} satisfies About<typeof dataExport>
