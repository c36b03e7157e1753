import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const { replayRatePerSecondMax, replayRatePerSecondDefault, searchTextCharsMax } = LIMITS

export const REPLAY_STATES = ['running', 'paused', 'done', 'cancelled'] as const
export const REPLAY_PAUSE_REASONS = ['by_hand', 'allowance_used'] as const
export const REPLAY_KINDS = ['replay', 'recover'] as const
/** The states from which a delivery can be replayed. */
export const REPLAYABLE_STATES = ['failed', 'cancelled', 'delivered'] as const

export const RatePerSecond = z
  .int()
  .min(1)
  .max(replayRatePerSecondMax)
  .default(replayRatePerSecondDefault)
  .describe(
    `The number of deliveries that become due per second, 1 to ${replayRatePerSecondMax}. First attempts of new events go before them.`,
  )
export const DryRunOnly = z.boolean().default(false).describe('Return the plan only; nothing changes.')

export const Filter = z.strictObject({
  state: z
    .array(z.enum(REPLAYABLE_STATES))
    .min(1)
    .max(REPLAYABLE_STATES.length)
    .default(['failed'])
    .describe('The states to replay. With delivered, the receiver gets events again that it has already accepted.'),
  destination_id: idInput('destination').optional().describe('Only deliveries to this destination.'),
  record_id: idInput('record').optional().describe('Only deliveries of this record.'),
  webhook_id: idInput('webhook').optional().describe('Only deliveries of events that this endpoint received.'),
  dataset: DatasetName.optional().describe('Only deliveries of records in this dataset.'),
  conditions: Conditions.default([]).describe('Only deliveries whose payload matches all of these.'),
  q: Text.min(1)
    .max(searchTextCharsMax)
    .optional()
    .describe('Only deliveries whose payload contains this text, in upper or lower case.'),
  ...TimeRange,
})

export const Replay = z.object({
  id: idOutput('replay'),
  kind: z.enum(REPLAY_KINDS).describe('`recover`: started by recovering a destination.'),
  filter: z.record(z.string(), z.unknown()).describe('The filter of the request, with the defaults filled in.'),
  rate_per_second: z.int(),
  state: z.enum(REPLAY_STATES),
  pause_reason: z
    .enum(REPLAY_PAUSE_REASONS)
    .nullable()
    .describe(
      '`allowance_used`: the deliveries of the month are used up; Postroad resumes the replay when the plan allows more. null: not paused.',
    ),
  total: z
    .int()
    .nullable()
    .describe('The number of matching deliveries at the start; null: there were too many to count.'),
  replayed: z.int().describe('The number of deliveries made due so far.'),
  skipped: z
    .int()
    .describe(
      'The number of deliveries that were skipped because they no longer matched the filter or their destination was deleted.',
    ),
  outcome: z
    .object({
      delivered: z.int(),
      failed: z.int().describe('The number of deliveries that failed again after their retry schedule.'),
      cancelled: z.int(),
      under_way: z.int().describe('The number of deliveries that have not ended: waiting, being sent, or paused.'),
      unknown: z
        .int()
        .describe(
          'The number of deliveries that were deleted before they ended, or sent again before Postroad counted results.',
        ),
    })
    .describe(
      'What has become of those that were made due, about a second late; the five add up to `replayed`. A result stays when someone replays the delivery once more.',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

export const ReplayPlan = z.object({
  count: z.int().describe('The number of deliveries that match.'),
  complete: z.boolean().describe('false: counting took too long, and there are more. The replay covers all of them.'),
  bytes: z.int().describe('The size of their payloads in bytes, estimated from the first deliveries.'),
  minutes: z.number().describe('The duration at this rate.'),
  duplicates: z.int().describe('The number of deliveries that their receiver has already accepted.'),
  allowance: z
    .object({
      left: z.int().describe('The number of deliveries left this month.'),
      suffices: z
        .boolean()
        .describe(
          'false: the replay pauses when these are used up, and Postroad resumes it when the plan allows more.',
        ),
    })
    .nullable()
    .describe('null: the plan allows any number of deliveries.'),
  destinations: z
    .array(z.object({ id: idOutput('destination'), count: z.int() }))
    .describe('The number of deliveries for each destination, largest first, at most 100.'),
})
export type ReplayPlan = z.infer<typeof ReplayPlan>

export const StartedReplay = z.object({
  plan: ReplayPlan,
  replay: Replay.nullable().describe('null: with dry_run, or when nothing matches.'),
})

const at = z.object({ id: idInput('replay') })
const one = z.object({ replay: Replay })

export const replays = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'replays',
    previousPath: 'deliveries/replays',
    summary: 'List replays',
    description: 'The replays of the project with their progress, newest first.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('replays', Replay),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays',
    previousPath: 'deliveries/replays',
    summary: 'Replay deliveries in bulk',
    description:
      'Sends every delivery that a filter matches again, at a steady rate, oldest first: same body, same event id, a new retry schedule. It leaves out deliveries that are created after the call. ' +
      'The plan shows how many deliveries match and how long the replay takes; with dry_run Postroad does nothing else. The replay runs in the background, continues after a restart, and replays no delivery twice. Each counts as one more delivery of the month: 429 `delivery_allowance_exhausted` with retry_after and upgrade_url when none is left.',
    ...WRITE,
    dryRun: true,
    status: 200,
    body: z.strictObject({ filter: Filter, rate_per_second: RatePerSecond, dry_run: DryRunOnly }),
    output: StartedReplay,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'replays/{id}',
    previousPath: 'deliveries/replays/{id}',
    summary: 'Get a replay',
    description: 'One replay with its progress.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  pause: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays/{id}/pause',
    previousPath: 'deliveries/replays/{id}/pause',
    summary: 'Pause a replay',
    description:
      'Pauses the replay. Deliveries that are already due are still sent. These are at most the deliveries of one or two seconds.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  resume: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays/{id}/resume',
    previousPath: 'deliveries/replays/{id}/resume',
    summary: 'Resume a replay',
    description:
      'Resumes a paused replay where it stopped, at the same rate. 429 `delivery_allowance_exhausted` when the plan has no delivery left this month.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  cancel: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays/{id}/cancel',
    previousPath: 'deliveries/replays/{id}/cancel',
    summary: 'Cancel a replay',
    description:
      'Cancels a running or paused replay. Deliveries that are already due are sent. The remaining deliveries do not change.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
