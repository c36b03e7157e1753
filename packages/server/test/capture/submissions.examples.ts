import { withId, anEventIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('submissions', {
  list: () => ({}),
  get: async (at) => withId((await anEventIn(at)).id),
})
