import { withBody, aConnectedAgentIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('connectedAgents', {
  list: () => ({}),
  get: aConnectedAgentIn,
  update: (at) => withBody(aConnectedAgentIn(at), { scope: 'service:write' }),
  remove: aConnectedAgentIn,
})
