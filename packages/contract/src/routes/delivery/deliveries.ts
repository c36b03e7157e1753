import { z } from 'zod'
import { ERROR_CODES } from '../../error-codes.ts'
import { EventSummary } from '../../event-summary.ts'
import { HeldBy } from '../../held-by.ts'
import { HOLD_CAUSES } from '../../holds.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { SentRequest } from '../../sent-request.ts'

export const DELIVERY_STATES = ['pending', 'sending', 'delivered', 'retrying', 'failed', 'paused', 'cancelled'] as const
export const PAUSE_REASONS = [
  'workspace_suspended',
  'workspace_closed',
  'destination_disabled',
  'allowance_used',
] as const
export const TRIGGERS = ['initial', 'automatic', 'manual', 'replay', 'resume'] as const
export const OUTCOMES = ['succeeded', 'failed', 'interrupted'] as const

export const Attempt = z.object({
  id: idOutput('attempt'),
  delivery_id: idOutput('delivery'),
  number: z.int(),
  trigger: z.enum(TRIGGERS),
  started_at: Timestamp,
  duration_ms: z.int().nullable(),
  outcome: z
    .enum(OUTCOMES)
    .nullable()
    .describe('null while the attempt is in progress. `interrupted`: the sender stopped, so the outcome is unknown.'),
  response_status: z.int().nullable(),
  response_headers: z.record(z.string(), z.string()).nullable(),
  response_body: z.string().nullable().describe('The first 16 KiB of the response body.'),
  response_truncated: z.boolean().nullable(),
  error_code: z.enum(ERROR_CODES).nullable(),
  error_detail: z.string().nullable().describe('The cause of a failure, or a note about a response.'),
  next_attempt_at: Timestamp.nullable(),
  request: SentRequest.nullable().describe(
    'The request of the attempt. An attempt that found no connection has it too: `error_code` says so. ' +
      'null: the attempt is under way, it ended before its request was made, its sender died, or it is older than this member.',
  ),
})

export const Delivery = z.object({
  id: idOutput('delivery'),
  record_id: idOutput('record'),
  dataset: z.string(),
  destination_id: idOutput('destination'),
  state: z.enum(DELIVERY_STATES),
  pause_reason: z
    .enum(PAUSE_REASONS)
    .nullable()
    .describe(
      '`allowance_used`: the deliveries of the month are used up. Postroad sends this one when the next month starts or when the plan changes.',
    ),
  attempt_count: z.int(),
  next_attempt_at: Timestamp.nullable(),
  last_status: z.int().nullable(),
  last_error: z.enum(ERROR_CODES).nullable(),
  held_by: HeldBy.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** A delivery with a summary of its event. */
export const ListedDelivery = Delivery.extend({ event: EventSummary })

/** A delivery as it was when it changed. It has no `held_by`, because that can change without the delivery. */
export const DeliveryChange = Delivery.omit({ held_by: true })

export const Held = z
  .enum(['any', ...HOLD_CAUSES])
  .optional()
  .describe('Only deliveries that their destination holds back, for any cause or for this one.')

const { deliveriesRecordIdsMax } = LIMITS

const RecordIds = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(idInput('record')).max(deliveriesRecordIdsMax, `Give at most ${deliveriesRecordIdsMax} record ids.`))

const at = z.object({ id: idInput('delivery') })

export const deliveries = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'deliveries',
    summary: 'List deliveries',
    description:
      'The deliveries of the project, newest first. Filters: state, destination, record, and the cause that holds them back.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      state: z.enum(DELIVERY_STATES).optional().describe('Only deliveries in this state.'),
      destination_id: idInput('destination').optional().describe('Only deliveries to this destination.'),
      record_id: RecordIds.optional().describe(
        `Only deliveries of this record, or of up to ${deliveriesRecordIdsMax} records, separated by commas.`,
      ),
      held_by: Held,
      ...TimeRange,
    }),
    output: listOf('deliveries', ListedDelivery),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'deliveries/{id}',
    summary: 'Get a delivery',
    description: 'One delivery with all its attempts, in order.',
    ...READ,
    status: 200,
    params: at,
    output: z.object({ delivery: ListedDelivery.extend({ attempts: z.array(Attempt) }) }),
  }),
  replay: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'deliveries/{id}/replay',
    summary: 'Replay a delivery',
    description:
      'Sends a delivery that has ended (`delivered`, `failed` or `cancelled`) again now, with the same body and event id and a new retry schedule. It counts as one more delivery of the month: 429 `delivery_allowance_exhausted` with retry_after and upgrade_url when none is left. A delivery that has not ended is refused with 409.',
    ...WRITE,
    status: 200,
    params: at,
    output: z.object({ delivery: Delivery }),
  }),
  retry: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'deliveries/{id}/retry',
    summary: 'Retry a delivery now',
    description:
      'Makes a waiting delivery due immediately. Postroad sends it as soon as its destination has capacity. While the breaker of the destination is open, a probe must succeed first, and `held_by` in the response says so. ' +
      'The attempt takes the place of the next scheduled one. ' +
      'A delivery that has ended, is paused or is being sent is refused with 409, and the message says what to do instead.',
    ...WRITE,
    status: 200,
    params: at,
    output: z.object({ delivery: Delivery }),
  }),
  cancel: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'deliveries/{id}/cancel',
    summary: 'Cancel a delivery',
    description:
      'Cancels a delivery that has not ended. A request in progress can still reach the destination. Its response is ignored, and the attempt ends as interrupted. ' +
      'You can replay a canceled delivery. Postroad refuses to cancel a delivery that has ended, with 409.',
    ...WRITE,
    status: 200,
    params: at,
    output: z.object({ delivery: Delivery }),
  }),
} as const
