import { aWebhookIn, withBody, aViewIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('recordViews', {
  list: aWebhookIn,
  create: (at) => withBody(aWebhookIn(at), { name: 'v', columns: [{ key: 'a' }] }),
  get: aViewIn,
  update: (at) => withBody(aViewIn(at), { name: 'w' }),
  remove: aViewIn,
})
