import type { About } from '../../about.ts'
import { type datasetSchemas, DatasetSchema } from './dataset-schemas.ts'
import { EXAMPLE_TIME, exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'The fields that the records of a dataset have, and how they change.',
  schemas: { DatasetSchema },
  members: {
    DatasetSchema: {
      dataset: 'orders',
      fields: [
        {
          path: 'total',
          types: [{ type: 'number', count: 4_812 }],
          seen: 4_812,
          presence: 0.9987,
          first_seen_at: EXAMPLE_TIME,
          last_seen_at: EXAMPLE_TIME,
          gone_at: null,
        },
      ],
      drifts: [
        {
          kind: 'field_added',
          path: 'customer.id',
          type: 'string',
          record_id: exampleId('record'),
          at: EXAMPLE_TIME,
        },
      ],
    },
  },
} satisfies About<typeof datasetSchemas>
