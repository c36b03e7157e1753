import type { About } from '../../about.ts'
import { type rules, Rule } from './rules.ts'
import { EXAMPLE_PAYLOAD } from '../../openapi/example-id.ts'

export const about = {
  text: 'Rules file events of POST /v1/ingest/{ingest_key} into datasets.',
  refusals: { create: ['name_taken'], update: ['name_taken'] },
  schemas: { Rule },
  bodies: {
    create: {
      name: 'Large orders',
      dataset: 'large_orders',
      conditions: [
        { path: 'type', equals: 'order.created' },
        { path: 'total', op: 'gte', value: 1_000 },
      ],
      mappings: [
        { target: 'order_total', path: 'total' },
        { target: 'currency', value: 'USD' },
      ],
    },
    update: { enabled: false },
    test: { conditions: [{ path: 'total', op: 'gt', value: 40 }], payloads: [EXAMPLE_PAYLOAD] },
  },
  members: { Rule: { name: 'Large orders', dataset: 'large_orders' } },
} satisfies About<typeof rules>
