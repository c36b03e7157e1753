import { aName } from '../stage/fixtures.ts'
import { anApiKeyIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('apiKeys', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made'), role: 'developer', ip_allowlist: ['127.0.0.1', '::/0'] } }),
  remove: anApiKeyIn,
})
