import { aName } from '../stage/fixtures.ts'
import { anAiAgentIn, anAiTriggerIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('triggers', {
  list: () => ({}),
  create: async (at) => ({
    body: { name: aName('made'), dataset: 'nothing_here', agent_id: (await anAiAgentIn(at)).params?.['id'] },
  }),
  get: anAiTriggerIn,
  update: (at) => withBody(anAiTriggerIn(at), { active: false }),
  remove: anAiTriggerIn,
})
