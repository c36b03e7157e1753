import { aCanceledRunIn, anAiRunIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('aiRuns', {
  search: () => ({ query: { state: 'queued' } }),
  get: anAiRunIn,
  cancel: anAiRunIn,
  retry: aCanceledRunIn,
})
