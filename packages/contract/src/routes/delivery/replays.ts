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
/** The states that a delivery can be replayed from. */
export const REPLAYABLE_STATES = ['failed', 'cancelled', 'delivered'] as const

export const RatePerSecond = z
  .int()
  .min(1)
  .max(replayRatePerSecondMax)
  .default(replayRatePerSecondDefault)
  .describe(
    `How many deliveries become due in a second, 1 to ${replayRatePerSecondMax}; never more. First attempts of new events go before them.`,
  )
export const DryRunOnly = z.boolean().default(false).describe('Only give the plan; nothing is changed.')

export const Filter = z.strictObject({
  state: z
    .array(z.enum(REPLAYABLE_STATES))
    .min(1)
    .max(REPLAYABLE_STATES.length)
    .default(['failed'])
    .describe('Which of those that have ended. With delivered the receiver gets again what it has had.'),
  destination_id: idInput('destination').optional().describe('Only those for this destination.'),
  record_id: idInput('record').optional().describe('Only those of this record.'),
  webhook_id: idInput('webhook').optional().describe('Only those of events that this endpoint received.'),
  dataset: DatasetName.optional().describe('Only those of records of this dataset.'),
  conditions: Conditions.default([]).describe('Only those whose payload meets all of these.'),
  q: Text.min(1)
    .max(searchTextCharsMax)
    .optional()
    .describe('Only those whose payload has this text in it; upper and lower case are alike.'),
  ...TimeRange,
})

export const Replay = z.object({
  id: idOutput('replay'),
  kind: z.enum(REPLAY_KINDS).describe('`recover`: begun by recovering a destination.'),
  filter: z.record(z.string(), z.unknown()).describe('What was asked for, with the defaults.'),
  rate_per_second: z.int(),
  state: z.enum(REPLAY_STATES),
  pause_reason: z
    .enum(REPLAY_PAUSE_REASONS)
    .nullable()
    .describe(
      '`allowance_used`: the deliveries of the month are used up; it goes on by itself when there is room again. null: not paused.',
    ),
  total: z.int().nullable().describe('How many there were when it began; null: more than were counted.'),
  replayed: z.int().describe('How many were made due so far.'),
  skipped: z
    .int()
    .describe(
      'How many were passed over, because they were no longer as the filter says or their destination was deleted.',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
  ended_at: Timestamp.nullable(),
})

export const ReplayPlan = z.object({
  count: z.int().describe('How many deliveries match.'),
  complete: z
    .boolean()
    .describe('false: there are more; counting took too long. All of them are replayed all the same.'),
  bytes: z.int().describe('Bytes of their payloads; above 2,000 deliveries reckoned from the first ones.'),
  minutes: z.number().describe('How long it takes at this pace.'),
  duplicates: z.int().describe('How many of them their receiver has accepted before.'),
  allowance: z
    .object({
      left: z.int().describe('How many deliveries the plan has left this month.'),
      suffices: z
        .boolean()
        .describe('false: the replay pauses when these are used up, and goes on by itself when there is room again.'),
    })
    .nullable()
    .describe('null: the plan allows any number of deliveries.'),
  destinations: z
    .array(z.object({ id: idOutput('destination'), count: z.int() }))
    .describe('How many for each destination, the most first, 100 at most.'),
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
    formerPath: 'deliveries/replays',
    summary: 'List replays',
    description: 'The replays of the project with how far they are, newest first.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('replays', Replay),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays',
    formerPath: 'deliveries/replays',
    summary: 'Replay many deliveries',
    description:
      'Sends every delivery that a filter matches again, at a pace, the oldest first: same body, same event id, a fresh schedule. Deliveries made after the call are left out. ' +
      'The plan says first what it comes to; with dry_run nothing else is done. It goes on by itself, also after a restart, and sends in no delivery twice. Each counts as one more delivery of the month; 429 `delivery_allowance_exhausted` with retry_after and upgrade_url when none is left.',
    ...WRITE,
    status: 200,
    body: z.strictObject({ filter: Filter, rate_per_second: RatePerSecond, dry_run: DryRunOnly }),
    output: StartedReplay,
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'replays/{id}',
    formerPath: 'deliveries/replays/{id}',
    summary: 'Get a replay',
    description: 'One replay with how far it is.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  pause: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays/{id}/pause',
    formerPath: 'deliveries/replays/{id}/pause',
    summary: 'Pause a replay',
    description: 'Makes no more deliveries due. Those that are due already, at most those of a second, are sent.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  resume: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays/{id}/resume',
    formerPath: 'deliveries/replays/{id}/resume',
    summary: 'Resume a replay',
    description:
      'A paused replay goes on where it stopped, at the same pace. 429 `delivery_allowance_exhausted` when the plan has no delivery left this month.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  cancel: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'replays/{id}/cancel',
    formerPath: 'deliveries/replays/{id}/cancel',
    summary: 'Cancel a replay',
    description:
      'Ends a replay that runs or is paused. What it has made due is sent; what it has not come to stays as it was.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
} as const
