import { aName } from '../stage/fixtures.ts'
import { aRuleIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('rules', {
  list: () => ({}),
  create: () => ({
    body: { name: aName('made'), dataset: 'routed', conditions: [{ path: 'a', op: 'gt', value: 5 }] },
  }),
  get: aRuleIn,
  update: (at) => withBody(aRuleIn(at), { enabled: false }),
  remove: aRuleIn,
  test: () => ({ body: { conditions: [{ path: 'a', equals: 1 }], payloads: [{ a: 1, b: 'canary-payload' }] } }),
})
