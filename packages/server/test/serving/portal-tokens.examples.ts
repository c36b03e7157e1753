import { aPortalIn, aPortalTokenIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('portalTokens', {
  list: aPortalIn,
  // The customer exists already, because a new one would have a separate audit row.
  create: async (at) => ({ ...(await aPortalTokenIn(at)), body: { customer_id: 'made before' } }),
  remove: aPortalTokenIn,
})
