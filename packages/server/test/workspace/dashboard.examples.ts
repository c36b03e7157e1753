import { world } from '../stage/admin-asking.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('dashboard', {
  summary: () => ({ query: { from: new Date(world.clock.now() - 3_600_000).toISOString() } }),
  timeseries: () => ({}),
})
