import type { About } from '../../about.ts'
import { type deletions, Deletion } from './deletions.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Resources deleted in the last 24 hours, which you can restore.',
  refusals: {
    restore: ['invalid_state', 'name_taken', 'slug_taken', 'transform_limit_reached', 'workflow_limit_reached'],
  },
  schemas: { Deletion },
  members: {
    Deletion: {
      resource_id: exampleId('rule'),
      name: 'Large orders',
      actor: exampleId('user'),
      agent: `api_key:${exampleId('apiKey')}`,
    },
  },
} satisfies About<typeof deletions>
