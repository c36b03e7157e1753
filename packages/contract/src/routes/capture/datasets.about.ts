import type { About } from '../../about.ts'
import type { datasets } from './datasets.ts'

export const about = {
  text: 'Named sets of records.',
  refusals: { create: ['name_taken', 'dataset_limit_reached'] },
} satisfies About<typeof datasets>
