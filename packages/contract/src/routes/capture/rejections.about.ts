import type { About } from '../../about.ts'
import { Rejection, RejectionReason } from '../../rejection.ts'
import type { rejections } from './rejections.ts'

export const about = {
  text: 'Rejected requests, counted by credential, reason and minute.',
  schemas: { Rejection, RejectionReason },
  members: {
    Rejection: {
      verification: 'failed',
      reason: 'bad_signature',
      status: 401,
      count: 3,
      remedy: 'Compare the secret at the sender with that of the endpoint.',
    },
  },
} satisfies About<typeof rejections>
