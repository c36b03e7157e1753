import { aWorkspaceOfAnother, aSuspended, aLockedOut } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('platformWorkspaces', {
  list: () => ({ query: { q: 'w' } }),
  get: () => aWorkspaceOfAnother(),
  suspend: () => aWorkspaceOfAnother({ reason: 'An example' }),
  reinstate: aSuspended,
  setPlan: () => aWorkspaceOfAnother({ plan: 'free' }),
  clearNetwork: aLockedOut,
})
