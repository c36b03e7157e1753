import { anotherOwner, anSsoRequestOf, anSsoRequestIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('platformSsoRequests', {
  list: () => ({}),
  get: anSsoRequestIn,
  decide: async () => ({
    ...(await anSsoRequestOf(await anotherOwner())),
    body: { status: 'approved', reason: 'An example' },
  }),
})
