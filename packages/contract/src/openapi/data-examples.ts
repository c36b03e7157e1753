import type { BodyExamples } from './body-examples.ts'
import { EXAMPLE_TIME, exampleId } from './example-id.ts'

/** Examples of Data API keys, of schemas of datasets, and of quarantines. */
export const DATA_BODIES = {
  quarantine: { update: { hours: 24 } },
  dataKeys: {
    create: { name: 'Warehouse', datasets: ['orders'] },
    update: { requests_per_10_seconds: 50 },
  },
} satisfies BodyExamples

export const DATA_MEMBERS = {
  'Quarantine.hours': 24,
  'Quarantine.count': 0,
  'Quarantine.bytes': 0,
  'Quarantine.requests': [],
  'DataKey.name': 'Warehouse',
  'DataKey.shown_prefix': 'hdk_1a2b3c4d',
  'DataKey.datasets': ['orders'],
  'DataKey.ip_allowlist': ['203.0.113.0/24'],
  'DatasetSchema.dataset': 'orders',
  'DatasetSchema.fields': [
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
  'DatasetSchema.drifts': [
    {
      kind: 'field_added',
      path: 'customer.id',
      type: 'string',
      record_id: exampleId('record'),
      at: EXAMPLE_TIME,
    },
  ],
} as const
