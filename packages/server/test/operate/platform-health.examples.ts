import { anOutboxMail } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('platformHealth', {
  get: () => ({}),
  readMail: anOutboxMail,
})
