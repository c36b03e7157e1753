import type { About } from '../../about.ts'
import type { datasetExports } from './dataset-exports.ts'

export const about = {
  text: 'Whole datasets as files.',
} satisfies About<typeof datasetExports>
