import type { About } from '../../about.ts'
import { exampleId } from '../../openapi/example-id.ts'
import type { destinationPreviews } from './destination-previews.ts'

export const about = {
  text: 'The request that a destination would receive.',
  refusals: { make: ['invalid_url'] },
  bodies: {
    make: { record_id: exampleId('record'), url: 'https://erp.example.com/hooks', body: 'as_received' },
  },
} satisfies About<typeof destinationPreviews>
