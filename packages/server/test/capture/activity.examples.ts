import { aRefusalIn } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('activity', {
  list: aRefusalIn,
})
