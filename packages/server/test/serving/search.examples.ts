import { withId, anEventIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('search', {
  deliveries: () => ({ query: { state: 'delivered,failed', q: 'a' } }),
  events: () => ({ query: { dataset: 'filed', f: 'a:equals:1' } }),
  submissions: () => ({ query: { q: 'a' } }),
  wait: () => ({ query: { dataset: 'filed', f: 'a:equals:1', wait_seconds: '0' } }),
  correlate: async (at) => withId((await anEventIn(at)).id),
})
