import type { About } from '../../about.ts'
import { type submissions, Submission, SubmissionDetail } from './submissions.ts'

export const about = {
  text: 'Accepted requests, with their bodies as received and the reason for their routing.',
  schemas: { Submission, SubmissionDetail },
} satisfies About<typeof submissions>
