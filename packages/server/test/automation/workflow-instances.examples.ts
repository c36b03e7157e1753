import { aFailedInstanceIn, anInstanceIn } from '../stage/example-workflows.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('workflowInstances', {
  list: () => ({ query: { state: 'pending,waiting' } }),
  get: anInstanceIn,
  cancel: anInstanceIn,
  retry: aFailedInstanceIn,
})
