import { z } from 'zod'
import { ERROR_CODES } from '../../error-codes.ts'
import { HeldBy } from '../../held-by.ts'
import { HOLD_CAUSES } from '../../holds.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

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
    .describe('null while it is under way; `interrupted`: the sender died, so nobody knows.'),
  response_status: z.int().nullable(),
  response_headers: z.record(z.string(), z.string()).nullable(),
  response_body: z.string().nullable().describe('The first 16 KiB.'),
  response_truncated: z.boolean().nullable(),
  error_code: z.enum(ERROR_CODES).nullable(),
  error_detail: z.string().nullable(),
  next_attempt_at: Timestamp.nullable(),
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
      '`allowance_used`: the deliveries of the month are used up; it is sent when the next month begins, or the plan is changed.',
    ),
  attempt_count: z.int(),
  next_attempt_at: Timestamp.nullable(),
  last_status: z.int().nullable(),
  last_error: z.enum(ERROR_CODES).nullable(),
  held_by: HeldBy.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

/** A delivery as it was when it changed. Its destination may hold it back later without a change of the delivery. */
export const DeliveryChange = Delivery.omit({ held_by: true })

export const Held = z
  .enum(['any', ...HOLD_CAUSES])
  .optional()
  .describe('Only those that their destination holds back: for any cause, or for this one.')

const { deliveriesRecordIdsMax } = LIMITS

const RecordIds = z
  .string()
  .transform((text) => text.split(','))
  .pipe(
    z
      .array(idInput('record'))
      .max(deliveriesRecordIdsMax, `At most ${deliveriesRecordIdsMax} records can be asked for at once.`),
  )

const at = z.object({ id: idInput('delivery') })

export const deliveries = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'deliveries',
    summary: 'List deliveries',
    description:
      'The deliveries of the project, newest first, by state, destination, record, or by what holds them back.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      state: z.enum(DELIVERY_STATES).optional().describe('Only those in this state.'),
      destination_id: idInput('destination').optional().describe('Only those for this destination.'),
      record_id: RecordIds.optional().describe(
        `Only those of this record; up to ${deliveriesRecordIdsMax}, separated by commas.`,
      ),
      held_by: Held,
      ...TimeRange,
    }),
    output: listOf('deliveries', Delivery),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'deliveries/{id}',
    summary: 'Get a delivery',
    description: 'One delivery with all its attempts, the first one first.',
    ...READ,
    status: 200,
    params: at,
    output: z.object({ delivery: Delivery.extend({ attempts: z.array(Attempt) }) }),
  }),
  replay: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'deliveries/{id}/replay',
    summary: 'Replay a delivery',
    description:
      'Sends a delivery that has ended (delivered, failed or cancelled) again now, with the same body and event id and a fresh schedule. It counts as one more delivery of the month: 429 `delivery_allowance_exhausted` with retry_after and upgrade_url when none is left. One that has not ended yet is refused with 409.',
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
      'A delivery that waits for its next attempt is due at once. Postroad sends it as soon as its destination has room; while the breaker of the destination is open, that is after a probe has succeeded, and `held_by` of the answer says so. ' +
      'The attempt counts in the schedule as the one that it replaces. ' +
      'One that has ended, is paused or is being sent is refused with 409, which says what to do instead.',
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
      'Nothing more is sent of a delivery that has not ended. A request that is under way may still reach the destination; what it answers no longer matters, and its attempt ends as interrupted. ' +
      'A cancelled delivery can be replayed. One that has ended is refused with 409.',
    ...WRITE,
    status: 200,
    params: at,
    output: z.object({ delivery: Delivery }),
  }),
} as const
