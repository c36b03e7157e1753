import type { About } from '../../about.ts'

export const about = {
  tables: {
    datasets: { exported: 'datasets' },
    deleted_datasets: { leftOut: 'Deleted datasets whose records are being erased.' },
  },
} as const satisfies About
