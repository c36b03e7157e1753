import type { About } from '../../about.ts'
import { type submissions, Submission, SubmissionDetail } from './submissions.ts'
import { EXAMPLE_PAYLOAD } from '../../openapi/example-id.ts'

export const about = {
  text: 'Accepted requests, with their bodies as received and the reason for their routing.',
  schemas: { Submission, SubmissionDetail },
  members: {
    Submission: { origin: null, body_bytes: 66 },
    SubmissionDetail: {
      origin: null,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(EXAMPLE_PAYLOAD),
    },
  },
} satisfies About<typeof submissions>
