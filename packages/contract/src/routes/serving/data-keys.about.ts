import type { About } from '../../about.ts'
import { type dataKeys, DataKey } from './data-keys.ts'

export const about = {
  text: 'Keys that read stored records on /v1/data.',
  refusals: { create: ['data_key_limit_reached'] },
  schemas: { DataKey },
  bodies: {
    create: { name: 'Warehouse', datasets: ['orders'] },
    update: { requests_per_10_seconds: 50 },
  },
  members: {
    DataKey: {
      name: 'Warehouse',
      shown_prefix: 'hdk_1a2b3c4d',
      datasets: ['orders'],
      ip_allowlist: ['203.0.113.0/24'],
    },
  },
} satisfies About<typeof dataKeys>
