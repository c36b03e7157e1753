import type { About } from '../../about.ts'
import type { workflows } from './workflows.ts'

export const about = {
  text: 'Workflows: the steps that a record of a dataset starts.',
  refusals: { create: ['slug_taken', 'workflow_limit_reached'], replace: ['slug_taken'], update: ['slug_taken'] },
} satisfies About<typeof workflows>
