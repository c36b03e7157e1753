import type { About } from '../../about.ts'
import { type recordViews, RecordColumn, RecordView } from './record-views.ts'

export const about = {
  text: 'Saved columns and orders for the records of an endpoint.',
  refusals: { create: ['name_taken'], update: ['name_taken'] },
  schemas: { RecordColumn, RecordView },
  bodies: {
    create: {
      name: 'Orders by total',
      columns: [{ key: 'total', label: 'Total' }, { key: 'customer.id' }],
      sort_key: 'total',
      sort_dir: 'desc',
    },
    update: { is_default: true },
  },
  members: {
    RecordColumn: { key: 'total', label: 'Total' },
    RecordView: { name: 'Orders by total', sort_key: 'total', sort_dir: 'desc' },
  },
} satisfies About<typeof recordViews>
