import { aName } from '../stage/fixtures.ts'
import { aWebhookIn, withBody, aRefusalIn, aVerifyingWebhookIn, aVersionIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('webhooks', {
  list: () => ({}),
  create: () => ({
    body: {
      name: aName('made'),
      verification: { scheme: 'code_host', secret: 'canary-verification' },
      handshake: { kind: 'hub_challenge', verify_token: 'canary-token' },
    },
  }),
  get: aWebhookIn,
  update: (at) => withBody(aWebhookIn(at), { enabled: false }),
  remove: aWebhookIn,
  test: (at) => withBody(aWebhookIn(at), { payloads: [{ a: 'canary-payload' }] }),
  rotate: (at) => withBody(aWebhookIn(at), { overlap_hours: 1 }),
  rotateVerificationSecret: (at) => withBody(aVerifyingWebhookIn(at), { secret: 'canary-rotated', overlap_hours: 1 }),
  listVersions: aWebhookIn,
  getVersion: aVersionIn,
  restoreVersion: (at) => withBody(aVersionIn(at), {}),
  refusedSamples: aRefusalIn,
  signSample: (at) => withBody(aVerifyingWebhookIn(at), { body: '{}' }),
  verifySample: (at) => withBody(aWebhookIn(at), { headers: {}, body: '{}' }),
})
