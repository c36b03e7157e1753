import { aClaim } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('agentAccounts', {
  claim: aClaim,
})
