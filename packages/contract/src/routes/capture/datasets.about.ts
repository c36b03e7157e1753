import type { About } from '../../about.ts'
import { type datasets, Dataset } from './datasets.ts'

export const about = {
  text: 'Named sets of records.',
  refusals: { create: ['name_taken', 'dataset_limit_reached'] },
  schemas: { Dataset },
  bodies: { create: { name: 'orders', description: 'Orders of the shop' }, update: { description: 'Orders' } },
} satisfies About<typeof datasets>
