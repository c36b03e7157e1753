import { aName } from '../stage/fixtures.ts'
import { anAiProviderIn, PROVIDER, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('aiProviders', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made'), ...PROVIDER } }),
  get: anAiProviderIn,
  update: (at) => withBody(anAiProviderIn(at), { default_model: 'large' }),
  remove: anAiProviderIn,
  test: anAiProviderIn,
})
