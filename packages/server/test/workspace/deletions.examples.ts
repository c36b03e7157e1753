import { aDeletionIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('deletions', {
  list: () => ({ query: { kind: 'rule' } }),
  restore: aDeletionIn,
})
