import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('me', {
  get: () => ({}),
})
