import type { About } from '../../about.ts'

export const about = {
  tables: {
    datasets: {
      exported: 'datasets',
      unconfigured: { kind: 'dataset', where: 'description is not null or retention_days is not null' },
    },
    deleted_datasets: { leftOut: 'Deleted datasets whose records are being erased.' },
  },
} as const satisfies About
