import { aName } from '../stage/fixtures.ts'
import { withBody, aPortalIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('portals', {
  list: () => ({}),
  create: () => ({
    body: { name: aName('made'), event_types: ['orders'], frame_origins: ['https://app.example.com'] },
  }),
  get: aPortalIn,
  update: (at) => withBody(aPortalIn(at), { enabled: false }),
  remove: aPortalIn,
})
