import { z } from 'zod'
import { LIMITS } from '../limits.ts'
import { Timestamp } from '../list.ts'
import { defineRoute, READ } from '../route.ts'
import { VERIFIED_SCHEMES } from '../verification.ts'
import { Attempt, Delivery } from './deliveries.ts'
import { RecordItem } from './records.ts'
import { SubmissionDetail } from './submissions.ts'

const { correlatedDeliveriesMax, correlatedAttemptsMax } = LIMITS

const Ended = {
  ended_at: Timestamp.nullable().describe('null: it has not ended yet, or nobody knows when.'),
  duration_ms: z.int().nullable(),
}

/** One thing that happened: the same members whatever it is, so that a timeline can be drawn from them alone. */
const Moment = z.object({
  kind: z.enum(['submission', 'record', 'delivery', 'attempt']),
  id: z.string(),
  parent_id: z.string().nullable().describe('What it came from: a record from a submission, a delivery from a record, an attempt from a delivery.'),
  at: Timestamp,
  ...Ended,
  state: z.string().describe('accepted, filed, the state of a delivery, or the outcome of an attempt; `sending` while it is under way.'),
})

export const Story = z.object({
  id: z.string().describe('The id that was asked for.'),
  submission: SubmissionDetail.omit({ body: true, body_base64: true }).extend({
    verified_scheme: z.enum(VERIFIED_SCHEMES).describe('The scheme whose signature was right; none: none was asked for.'),
  }),
  records: z.array(RecordItem.omit({ data: true })),
  deliveries: z.array(
    Delivery.extend({ ...Ended, attempts: z.array(Attempt.omit({ response_headers: true, response_body: true }).extend(Ended)) }),
  ),
  timeline: z.array(Moment).describe('All of it in the order of time.'),
  truncated: z.boolean().describe(`There are more than ${correlatedDeliveriesMax} deliveries or ${correlatedAttemptsMax} attempts; the first ones are here.`),
})

export const search = {
  correlate: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/correlate/{id}',
    summary: 'Get the whole story of an event',
    description:
      'From the id of a submission, a record, a delivery or an attempt: what came, what was decided, what was filed and what was sent, with its times. ' +
      'Payloads and answers are left out; GET of the submission, the record or the delivery has them.',
    ...READ,
    status: 200,
    params: z.object({ id: z.string().max(64) }),
    output: Story,
  }),
} as const
