import { aName } from '../stage/fixtures.ts'
import { anAnnouncement } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('platformBroadcasts', {
  list: () => ({}),
  create: () => ({ body: { title: aName('made'), text: 'An example.', severity: 'warning' } }),
  withdraw: anAnnouncement,
})
