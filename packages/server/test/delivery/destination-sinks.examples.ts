import { aName } from '../stage/fixtures.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('destinationSinks', {
  create: () => ({ body: { name: aName('sink'), datasets: ['Nothing'] } }),
})
