import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('map', { get: () => ({ query: { limit: '5' } }) })
