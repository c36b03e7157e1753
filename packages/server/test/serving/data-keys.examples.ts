import { aName } from '../stage/fixtures.ts'
import { aDataKeyIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('dataKeys', {
  list: () => ({}),
  create: () => ({ body: { name: aName('reader') } }),
  get: aDataKeyIn,
  update: (at) => withBody(aDataKeyIn(at), { requests_per_10_seconds: 7 }),
  remove: aDataKeyIn,
})
