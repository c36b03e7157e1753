import type { About } from '../../about.ts'
import { type activity, ActivityRow } from './activity.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Requests that an endpoint received and refused.',
  schemas: { ActivityRow },
  members: {
    ActivityRow: {
      id: exampleId('submission'),
      status: 201,
      count: 1,
      kind: 'received',
      reason: null,
      forward_status: 'delivered',
    },
  },
} satisfies About<typeof activity>
