import type { About } from '../../about.ts'
import { type datasetSchemas, DatasetSchema } from './dataset-schemas.ts'

export const about = {
  text: 'The fields that the records of a dataset have, and how they change.',
  schemas: { DatasetSchema },
} satisfies About<typeof datasetSchemas>
