import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import {
  Breaker,
  Datasets,
  Headers,
  MaxInFlight,
  Ordering,
  PayloadTemplate,
  RateLimit,
  Retry,
  ShownHeaders,
  Signing,
  TimeoutMs,
  Url,
} from '../../destination-settings.ts'
import {
  DestinationAuth,
  DestinationProxy,
  DestinationTls,
  ShownAuth,
  ShownProxy,
  ShownTls,
} from '../../destination-auth.ts'
import { HeldBy } from '../../held-by.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, Instant, ListQuery, listOf, Name, Timestamp } from '../../list.ts'
import { EndOverlap, OverlapHours } from '../../rotation.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { Attempt } from './deliveries.ts'
import { DryRunOnly, RatePerSecond, ReplayPlan, StartedReplay } from './replays.ts'

export const Destination = z.object({
  id: idOutput('destination'),
  name: z.string(),
  url: z.string(),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['by_hand', 'gone', 'failing'])
    .nullable()
    .describe('`gone`: the destination answered 410. `failing`: nothing succeeded for 120 hours.'),
  disabled_at: Timestamp.nullable(),
  datasets: z.array(z.string()).nullable(),
  conditions: Conditions,
  headers: ShownHeaders,
  retry: z.object({ schedule_seconds: z.array(z.int()).nullable() }),
  timeout_ms: z.int(),
  max_in_flight: z.int(),
  rate_limit: z.object({ count: z.int(), per: z.enum(['second', 'minute', 'hour']) }).nullable(),
  ordering: z.union([z.literal('none'), z.object({ path: z.string() })]),
  breaker: Breaker,
  signing: z.object({ header: z.enum(['both', 'service', 'standard']) }),
  previous_secret_expires_at: Timestamp.nullable().describe(
    'After a rotation: until when deliveries are also signed with the previous secret.',
  ),
  auth: ShownAuth,
  tls: ShownTls,
  proxy: ShownProxy,
  payload_template: z.unknown(),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('destination') })
const one = z.object({ destination: Destination })

/** Contract part 5: never for a key or an agent. */
const PERSONAL = { ...WRITE, callers: 'people', status: 200, showsSecret: true } as const
const Secret = one.extend({ signing_secret: z.string() })

const Quantiles = z.object({ p50: z.int(), p95: z.int() }).nullable()

export const destinations = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'destinations',
    summary: 'List destinations',
    description: 'The destinations of the project, newest first; never their signing secrets.',
    ...READ,
    status: 200,
    query: ListQuery,
    output: listOf('destinations', Destination),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations',
    summary: 'Create a destination',
    description:
      'Every new record that its datasets and conditions match is delivered to it, signed. The signing secret is returned once.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({
      name: Name,
      url: Url,
      enabled: z.boolean().default(true),
      datasets: Datasets.default(null),
      conditions: Conditions.default([]),
      headers: Headers.default({}),
      retry: Retry.default({ schedule_seconds: null }),
      timeout_ms: TimeoutMs.default(LIMITS.deliveryTimeoutMsDefault),
      max_in_flight: MaxInFlight.default(LIMITS.maxInFlightDefault),
      rate_limit: RateLimit.default(null),
      ordering: Ordering.default('none'),
      signing: Signing.default({ header: 'both' }),
      auth: DestinationAuth.default({ kind: 'none' }),
      tls: DestinationTls.default(null),
      proxy: DestinationProxy.default(null),
      payload_template: PayloadTemplate.default(null),
    }),
    output: z.object({ destination: Destination, signing_secret: z.string() }),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'destinations/{id}',
    summary: 'Get a destination',
    description: 'One destination of the project.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'project',
    path: 'destinations/{id}',
    summary: 'Change a destination',
    description:
      'Changes the members that are sent. Switching it off pauses its outstanding deliveries; switching it on sends them, and closes its breaker. ' +
      'An attempt that is under way ends as it began. Stored secrets go only to the place that they were set for: a change of the origin of the url, of the token ' +
      'endpoint, of the proxy or of the trusted authorities needs the secrets of auth and the values of headers again.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      url: Url.optional(),
      enabled: z.boolean().optional(),
      datasets: Datasets.optional(),
      conditions: Conditions.optional(),
      headers: Headers.optional(),
      retry: Retry.optional(),
      timeout_ms: TimeoutMs.optional(),
      max_in_flight: MaxInFlight.optional(),
      rate_limit: RateLimit.optional(),
      ordering: Ordering.optional(),
      signing: Signing.optional(),
      auth: DestinationAuth.optional(),
      tls: DestinationTls.optional(),
      proxy: DestinationProxy.optional(),
      payload_template: PayloadTemplate.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'destinations/{id}',
    summary: 'Delete a destination',
    description: 'Cancels its outstanding deliveries. Delivered ones stay in the list.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
  revealSecret: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/reveal-secret',
    summary: 'Reveal the signing secret of a destination',
    description:
      'Shows the secret that deliveries are signed with, to a person who is signed in; never to a key or an agent. Audited.',
    ...PERSONAL,
    params: at,
    output: Secret,
  }),
  rotateSecret: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/rotate-secret',
    summary: 'Replace the signing secret of a destination',
    description:
      'Mints a new secret. For overlap_hours every delivery is signed with both: a second v1 in Service-Signature and a second signature in webhook-signature, ' +
      'so a receiver may change over at any moment. A destination has one previous secret at most: a second rotation within the overlap is refused with 409 `overlap_running`, ' +
      'unless `end_overlap` is true. For a person who is signed in; never for a key or an agent.',
    ...PERSONAL,
    params: at,
    body: z.strictObject({ overlap_hours: OverlapHours, end_overlap: EndOverlap }),
    output: Secret,
  }),
  recover: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/recover',
    summary: 'Recover a destination',
    description:
      'Sends again, at a pace, every delivery that failed for good since a time, and with `enable` switches the destination on, which sends what is paused. ' +
      'Events that arrived while it was switched off have paused deliveries, so nothing is missing. With dry_run the answer is the plan, and nothing is changed.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      since: Instant.describe('RFC 3339: what was made at this time or later.'),
      enable: z.boolean().default(false).describe('Switch the destination on, if it is off.'),
      include_cancelled: z.boolean().default(false).describe('Also deliveries that somebody cancelled.'),
      rate_per_second: RatePerSecond,
      dry_run: DryRunOnly,
    }),
    output: StartedReplay.extend({
      destination: Destination,
      plan: ReplayPlan.extend({
        waiting: z
          .int()
          .describe(
            'Deliveries made since then that wait or are paused: they go by themselves, once the destination is on. At most 10,000 are counted.',
          ),
      }),
    }),
  }),
  test: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/test',
    summary: 'Send a test to a destination',
    description:
      'Sends a sample, or a record of the project, to the destination now, signed and with the headers and proofs of its deliveries, and gives what it answered. ' +
      'It is no delivery: nothing is stored or retried, no allowance is spent, and a 410 does not switch the destination off. A test that succeeds closes an open breaker, so that what waits is sent. ' +
      `It takes timeout_ms of the destination at most, and never more than ${LIMITS.testTimeoutMsMax / 1_000} s.`,
    ...WRITE,
    status: 200,
    refusesIdempotencyKey: true,
    params: at,
    body: z.strictObject({ record_id: idInput('record').optional().describe('Absent: a sample.') }),
    output: z.object({
      attempt: Attempt.omit({ delivery_id: true, number: true, trigger: true, next_attempt_at: true }).extend({
        outcome: z.enum(['succeeded', 'failed']),
        event_id: idOutput('record').describe('What was sent as Service-Event-Id; of a sample no record has it.'),
      }),
      closed_breaker: z
        .boolean()
        .describe('The breaker was not closed, and this test has closed it: what waits is sent now.'),
    }),
  }),
  probe: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/probe',
    summary: 'Probe a destination now',
    description:
      'While the breaker of a destination is open, Postroad sends one waiting delivery now and then as a probe. This sends the next probe at once. If it succeeds, the other deliveries follow. ' +
      'If it fails, the breaker stays open, and the wait until the next probe does not grow. Refused with 409 when the destination is off, when its breaker is not open, or when no delivery waits for it.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  health: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'destinations/{id}/health',
    summary: 'Get the health of a destination',
    description:
      'How attempts of the last hours went, how long they took, and what waits now. Counted behind the commits, some seconds late.',
    ...READ,
    status: 200,
    params: at,
    query: z.object({
      hours: z.coerce
        .number()
        .int()
        .min(1)
        .max(LIMITS.healthHoursMax)
        .default(LIMITS.healthHoursDefault)
        .describe(`How many hours back: 1 to ${LIMITS.healthHoursMax}.`),
    }),
    output: z.object({
      health: z.object({
        destination_id: idOutput('destination'),
        enabled: z.boolean(),
        disabled_reason: Destination.shape.disabled_reason,
        from: Timestamp.describe('The range as it was counted: widened to whole points.'),
        to: Timestamp,
        counted_at: Timestamp.nullable().describe('When the numbers were counted last; null: not yet.'),
        attempts: z.object({
          succeeded: z.int(),
          failed: z.int(),
          interrupted: z.int().describe('Nobody knows what the receiver saw.'),
          gave_up: z.int().describe('Of the failed: those after which a delivery was given up.'),
        }),
        breaker: Breaker,
        bucket_seconds: z.int().describe('How long each of `points` is.'),
        points: z
          .array(
            z.object({
              at: Timestamp.describe('When it begins.'),
              succeeded: z.int(),
              failed: z.int(),
              interrupted: z.int(),
            }),
          )
          .describe(
            'The same attempts over time, minutes or hours; one in which nothing happened is there with zeros.',
          ),
        success_ratio: z
          .number()
          .nullable()
          .describe('0 to 1: of the attempts that have an outcome. null: there was none.'),
        response_ms: Quantiles.describe('How long attempts took.'),
        delivery_ms: Quantiles.describe('From the acceptance of the event to its delivery, retries included.'),
        backlog: z
          .object({
            pending: z.int(),
            retrying: z.int(),
            paused: z.int(),
            held: z.int().describe('Of all these, those that the destination holds back; held_by says why.'),
            oldest_accepted_at: Timestamp.nullable().describe('When the oldest of what waits to be sent was accepted.'),
          })
          .describe(`Each is counted up to ${LIMITS.backlogCountMax}.`),
        held_by: HeldBy.nullable().describe('Why the destination holds deliveries back; null: it holds none back.'),
        next_attempt_at: Timestamp.nullable().describe(
          'When Postroad sends next: the next probe while the breaker is open, otherwise when the next attempt is due. null: nothing waits, or the destination is off.',
        ),
      }),
    }),
  }),
} as const
