import type { About } from '../../about.ts'
import { Rejection, RejectionReason } from '../../rejection.ts'
import type { rejections } from './rejections.ts'

export const about = {
  text: 'Rejected requests, counted by credential, reason and minute.',
  schemas: { Rejection, RejectionReason },
} satisfies About<typeof rejections>
