import { withBody, aVerifyingWebhookIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('quarantine', {
  get: aVerifyingWebhookIn,
  update: (at) => withBody(aVerifyingWebhookIn(at), { hours: 24 }),
  verify: aVerifyingWebhookIn,
  discard: aVerifyingWebhookIn,
})
