import type { About } from '../../about.ts'
import { type recordViews, RecordColumn, RecordView } from './record-views.ts'

export const about = {
  text: 'Saved columns and orders for the records of an endpoint.',
  refusals: { create: ['name_taken'], update: ['name_taken'] },
  schemas: { RecordColumn, RecordView },
} satisfies About<typeof recordViews>
