import { randomUUID } from 'node:crypto'
import { aDatasetIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('datasets', {
  list: () => ({}),
  create: () => ({ body: { name: `d${randomUUID().slice(0, 8)}`, description: 'Orders' } }),
  get: aDatasetIn,
  remove: aDatasetIn,
  update: (at) => withBody(aDatasetIn(at), { description: 'Other' }),
})
