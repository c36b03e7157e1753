import { aName } from '../stage/fixtures.ts'
import { aForwarderIn, NO_RECEIVER, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('forwarders', {
  list: () => ({}),
  presets: () => ({}),
  create: () => ({ body: { name: aName('made'), ...NO_RECEIVER, enabled: false } }),
  test: ({ project }) => ({ body: NO_RECEIVER, target: project }),
  get: aForwarderIn,
  update: (at) => withBody(aForwarderIn(at), { sample_rate: 0.5 }),
  remove: aForwarderIn,
})
