import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('platformSettings', {
  get: () => ({}),
  update: () => ({ target: '', body: { support_contact: 'support@example.com' } }),
})
