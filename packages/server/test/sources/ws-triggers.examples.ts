import { aName } from '../stage/fixtures.ts'
import { aWsTriggerIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('wsTriggers', {
  list: () => ({}),
  create: () => ({
    body: { name: aName('made'), url: 'ws://127.0.0.1:9/', dataset: 'frames', headers: { 'X-A': 'canary-header' } },
  }),
  get: aWsTriggerIn,
  update: (at) => withBody(aWsTriggerIn(at), { enabled: false }),
  remove: aWsTriggerIn,
})
