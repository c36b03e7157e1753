import type { About } from '../../about.ts'
import { type deletions, Deletion } from './deletions.ts'

export const about = {
  text: 'Resources deleted in the last 24 hours, which you can restore.',
  refusals: { restore: ['invalid_state', 'name_taken', 'slug_taken', 'workflow_limit_reached'] },
  schemas: { Deletion },
} satisfies About<typeof deletions>
