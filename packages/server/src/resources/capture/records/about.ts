import type { About } from '../../about.ts'

export const about = {
  tables: {
    records: { exported: 'records' },
    record_columns: { leftOut: 'Keys of the records above.' },
  },
} as const satisfies About
