import type { About } from '../../about.ts'

export const about = {
  tables: {
    dataset_schemas: { leftOut: 'Learned from the records above.' },
    dataset_drifts: { leftOut: 'Learned from the records above.' },
  },
} as const satisfies About
