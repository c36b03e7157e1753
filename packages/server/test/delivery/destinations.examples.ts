import { sink } from '../stage/admin-asking.ts'
import { aName } from '../stage/fixtures.ts'
import { aDestinationIn, withBody, anOpenBreakerIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('destinations', {
  list: () => ({}),
  probe: anOpenBreakerIn,
  create: () => ({
    body: { name: aName('made'), url: sink.url, datasets: ['Nothing'], headers: { 'X-A': 'canary-header' } },
  }),
  get: aDestinationIn,
  update: (at) => withBody(aDestinationIn(at), { timeout_ms: 2_000 }),
  remove: aDestinationIn,
  recover: (at) => withBody(aDestinationIn(at), { since: '2026-01-01T00:00:00Z' }),
  test: (at) => withBody(aDestinationIn(at), {}),
  health: aDestinationIn,
  revealSecret: aDestinationIn,
  rotateSecret: (at) => withBody(aDestinationIn(at), { overlap_hours: 1 }),
})
