import { withBody, aMemberIn, aLeaver, aTransfer } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('members', {
  list: () => ({}),
  update: (at) => withBody(aMemberIn(at), { role: 'developer' }),
  remove: aMemberIn,
  leave: aLeaver,
  transferOwnership: aTransfer,
})
