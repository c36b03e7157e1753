import { withId, aWebhookIn, anEventIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('records', {
  list: () => ({ query: { dataset: 'filed' } }),
  get: async (at) => withId((await anEventIn(at)).records[0].id),
  listOfWebhook: aWebhookIn,
})
