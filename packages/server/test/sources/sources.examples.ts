import { aName } from '../stage/fixtures.ts'
import { aSourceIn, withBody } from '../stage/example-resources.ts'
import { DATABASE } from '../stage/source-settings.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('sources', {
  list: () => ({}),
  create: () => ({ body: { name: aName('made'), dataset: 'rows', settings: DATABASE } }),
  test: ({ project }) => ({ body: { settings: DATABASE }, target: project }),
  get: aSourceIn,
  update: (at) => withBody(aSourceIn(at), { enabled: false }),
  remove: aSourceIn,
})
