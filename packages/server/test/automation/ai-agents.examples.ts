import { aName } from '../stage/fixtures.ts'
import { anAiAgentIn, anAiProviderIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('aiAgents', {
  list: () => ({}),
  create: async (at) => ({
    body: { name: aName('made'), provider_id: (await anAiProviderIn(at)).params?.['id'], instructions: 'Sort it.' },
  }),
  get: anAiAgentIn,
  update: (at) => withBody(anAiAgentIn(at), { max_steps: 3 }),
  remove: anAiAgentIn,
})
