import { aName } from '../stage/fixtures.ts'
import { aProjectIn, withBody } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('projects', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made') } }),
  get: aProjectIn,
  update: (at) => withBody(aProjectIn(at), { name: aName('renamed') }),
  remove: aProjectIn,
})
