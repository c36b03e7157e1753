import type { About } from '../../about.ts'
import type { destinationPreviews } from './destination-previews.ts'

export const about = {
  text: 'The request that a destination would receive.',
  refusals: { make: ['invalid_url'] },
} satisfies About<typeof destinationPreviews>
