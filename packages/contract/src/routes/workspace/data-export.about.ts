import type { About } from '../../about.ts'
import { type dataExport, DataExport } from './data-export.ts'

export const about = {
  text: 'Exports of the whole workspace as one zip.',
  refusals: {
    create: ['export_running', 'export_limit_reached'],
    download: ['invalid_state', 'export_over', 'range_not_satisfiable'],
  },
  schemas: { DataExport },
  members: {
    DataExport: {
      state: 'ready',
      file: {
        bytes: 18_204,
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        etag: '"9f86d081"',
      },
    },
  },
} satisfies About<typeof dataExport>
