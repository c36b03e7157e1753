import { randomUUID } from 'node:crypto'
import { anInviteIn, anAcceptance } from '../stage/example-resources.ts'
import { examplesOf } from '../stage/examples-of.ts'

export const examples = examplesOf('invites', {
  list: () => ({}),
  create: () => ({ body: { email: `${randomUUID()}@example.com`, role: 'developer' } }),
  remove: anInviteIn,
  resend: anInviteIn,
  accept: anAcceptance,
})
