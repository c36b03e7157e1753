import { z } from 'zod'
import { Conditions } from '../../condition.ts'
import {
  Breaker,
  Datasets,
  DeliveryBody,
  ForwardHeaders,
  Headers,
  MaxInFlight,
  Ordering,
  PayloadTemplate,
  PublicKeys,
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
import { DESTINATION_KINDS, DestinationConfig } from '../../destination-kinds.ts'
import { HeldBy } from '../../held-by.ts'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DeletedForNow, Instant, ListQuery, listOf, Name, Timestamp } from '../../list.ts'
import { EndOverlap, OverlapHours } from '../../rotation.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'
import { TransformOf } from '../../transform.ts'
import { Quantiles } from '../../quantiles.ts'
import { Attempt } from './deliveries.ts'
import { DryRunOnly, RatePerSecond, ReplayPlan, StartedReplay } from './replays.ts'

export const Destination = z.object({
  id: idOutput('destination'),
  name: z.string(),
  kind: z.enum(DESTINATION_KINDS),
  config: DestinationConfig,
  url: z.string(),
  enabled: z.boolean(),
  disabled_reason: z
    .enum(['by_hand', 'gone', 'failing'])
    .nullable()
    .describe('`gone`: the destination answered 410. `failing`: no delivery succeeded for 120 hours.'),
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
  signing: Signing.required().strip(),
  public_keys: PublicKeys,
  previous_secret_expires_at: Timestamp.nullable().describe(
    'After a rotation: the time until which deliveries are also signed with the previous secret.',
  ),
  auth: ShownAuth,
  tls: ShownTls,
  proxy: ShownProxy,
  payload_template: z.unknown(),
  body: DeliveryBody,
  forward_headers: z.array(z.string()),
  transform_id: idOutput('transform').nullable(),
  description: z.string().nullable().describe('The text of the customer whose destination it is; null otherwise.'),
  customer: z
    .object({
      id: idOutput('customer'),
      portal_id: idOutput('portal'),
      customer_id: z.string(),
      name: z.string().nullable(),
    })
    .nullable()
    .describe(
      'The customer who owns it, and who manages it in a portal. It receives only events that name this customer, and reaches only public addresses. null: a destination of the project.',
    ),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const at = z.object({ id: idInput('destination') })
const one = z.object({ destination: Destination })

/** Only for people, never for a key or an agent (contract, part 5). */
const PERSONAL = { ...WRITE, callers: 'people', status: 200, showsSecret: true } as const
const Secret = one.extend({ signing_secret: z.string() })

export const destinations = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'destinations',
    summary: 'List destinations',
    description: 'The destinations of the project, newest first, without their signing secrets.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      customer: idInput('customer').optional().describe('Only the destinations of this customer of a portal.'),
      owner: z
        .enum(['project', 'customers'])
        .optional()
        .describe('`project`: only those of the project. `customers`: only those of customers. Absent: all.'),
    }),
    output: listOf('destinations', Destination),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations',
    summary: 'Create a destination',
    description:
      'Postroad signs every new record that matches its datasets and conditions and delivers it to this destination. The signing secret is returned once.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    body: z.strictObject({
      name: Name,
      config: DestinationConfig.default({ kind: 'http' }),
      url: Url,
      enabled: z.boolean().default(true),
      datasets: Datasets.default(null),
      conditions: Conditions.default([]),
      headers: Headers.default({}),
      retry: Retry.default({ schedule_seconds: null }),
      timeout_ms: TimeoutMs.default(LIMITS.deliveryTimeoutMsDefault),
      max_in_flight: MaxInFlight.optional().describe(
        `The most concurrent sends; the plan can allow fewer. Absent: ${LIMITS.maxInFlightDefault}, or ${LIMITS.maxInFlightOfBatches} for batches.`,
      ),
      rate_limit: RateLimit.default(null),
      ordering: Ordering.default('none'),
      signing: Signing.default({ header: 'both' }),
      auth: DestinationAuth.default({ kind: 'none' }),
      tls: DestinationTls.default(null),
      proxy: DestinationProxy.default(null),
      payload_template: PayloadTemplate.default(null),
      body: DeliveryBody.default('envelope'),
      forward_headers: ForwardHeaders.default([]),
      transform_id: TransformOf.default(null),
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
      'Updates only the fields that you send. Turning the destination off pauses its outstanding deliveries; turning it on sends them and closes its breaker. ' +
      'An attempt in progress is finished with the previous settings. Stored secrets go only to the place that they were set for: a change of the origin of the url, the token ' +
      'endpoint, the proxy or the trusted authorities needs the secrets of auth and the values of headers again.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({
      name: Name.optional(),
      config: DestinationConfig.optional(),
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
      body: DeliveryBody.optional(),
      forward_headers: ForwardHeaders.optional(),
      transform_id: TransformOf.optional(),
    }),
    output: one,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'destinations/{id}',
    summary: 'Delete a destination',
    description:
      'Deletes the destination and cancels its outstanding deliveries. Deliveries that have ended stay in the list.',
    ...WRITE,
    status: 200,
    params: at,
    output: DeletedForNow,
  }),
  revealSecret: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/reveal-secret',
    summary: 'Reveal the signing secret of a destination',
    description:
      'Shows the secret that deliveries are signed with to a person who is signed in, never to a key or an agent. The audit log records it.',
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
      'Creates a new secret. For overlap_hours every delivery is signed with both secrets: a second v1 in Service-Signature and a second signature in webhook-signature, ' +
      'so a receiver can switch to the new secret at any time. The ed25519 key, if there is one, is replaced with it. A destination has at most one previous secret: a second rotation within the overlap is refused with 409 `overlap_running`, ' +
      'unless `end_overlap` is true. Only for a person who is signed in, never for a key or an agent.',
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
      'Sends every delivery that has failed since a given time again, at a steady rate. With `enable` it also turns the destination on, which sends the paused deliveries. ' +
      'Events that arrived while the destination was off have paused deliveries, so none is missed. With dry_run the response is the plan, and nothing changes.',
    ...WRITE,
    dryRun: true,
    status: 200,
    params: at,
    body: z.strictObject({
      since: Instant.describe('RFC 3339: deliveries created at this time or later.'),
      enable: z.boolean().default(false).describe('Turn the destination on if it is off.'),
      include_cancelled: z.boolean().default(false).describe('Also send deliveries that were canceled.'),
      rate_per_second: RatePerSecond,
      dry_run: DryRunOnly,
    }),
    output: StartedReplay.extend({
      destination: Destination,
      plan: ReplayPlan.extend({
        waiting: z
          .int()
          .describe(
            'Deliveries created since then that wait or are paused. Postroad sends them without a replay once the destination is on. At most 10,000 are counted.',
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
      'Sends a sample, or a record of the project, to the destination now, signed and with the headers and credentials of its deliveries, and returns the response. ' +
      'A test is not a delivery: Postroad does not store, retry or count it, and a 410 does not turn the destination off. A successful test closes an open circuit breaker, so waiting deliveries are sent. ' +
      `The test takes at most timeout_ms of the destination, and never more than ${LIMITS.testTimeoutMsMax / 1_000} s.`,
    ...WRITE,
    status: 200,
    waitsForOthers: true,
    params: at,
    body: z.strictObject({ record_id: idInput('record').optional().describe('The record to send. Absent: a sample.') }),
    output: z.object({
      attempt: Attempt.omit({
        delivery_id: true,
        number: true,
        trigger: true,
        next_attempt_at: true,
        request: true,
      }).extend({
        outcome: z.enum(['succeeded', 'failed']),
        event_id: idOutput('record').describe(
          'The value of Service-Event-Id. The id of a sample belongs to no record.',
        ),
      }),
      closed_breaker: z
        .boolean()
        .describe('true: the breaker was not closed, and this test closed it. Waiting deliveries are sent now.'),
    }),
  }),
  probe: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'destinations/{id}/probe',
    summary: 'Probe a destination now',
    description:
      'While the breaker of a destination is open, Postroad sends one waiting delivery from time to time as a probe. This call sends the next probe immediately. If the probe succeeds, Postroad sends the other deliveries. ' +
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
      'The outcomes and durations of recent attempts, and the deliveries that wait now. The counts are some seconds behind.',
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
        .describe(`The number of hours to look back, 1 to ${LIMITS.healthHoursMax}.`),
    }),
    output: z.object({
      health: z.object({
        destination_id: idOutput('destination'),
        enabled: z.boolean(),
        disabled_reason: Destination.shape.disabled_reason,
        from: Timestamp.describe('The start of the range, rounded out to whole points.'),
        to: Timestamp,
        counted_at: Timestamp.nullable().describe('The time of the last count; null: not counted yet.'),
        attempts: z.object({
          succeeded: z.int(),
          failed: z.int(),
          interrupted: z.int().describe('Attempts whose outcome is unknown.'),
          gave_up: z.int().describe('The failed attempts that were the last of their delivery.'),
        }),
        breaker: Breaker,
        bucket_seconds: z.int().describe('The length of each of `points`.'),
        points: z
          .array(
            z.object({
              at: Timestamp.describe('The start of the point.'),
              succeeded: z.int(),
              failed: z.int(),
              interrupted: z.int(),
            }),
          )
          .describe('The same attempts over time, in minutes or hours. A point without attempts has zeros.'),
        success_ratio: z
          .number()
          .nullable()
          .describe('0 to 1: the share of attempts with a known outcome that succeeded. null: there were none.'),
        response_ms: Quantiles.describe('The duration of attempts.'),
        delivery_ms: Quantiles.describe('The time from the acceptance of an event to its delivery, including retries.'),
        backlog: z
          .object({
            pending: z.int(),
            retrying: z.int(),
            paused: z.int(),
            held: z
              .int()
              .describe('The deliveries among these that the destination holds back; held_by gives the cause.'),
            oldest_accepted_at: Timestamp.nullable().describe(
              'The time at which the event of the oldest pending or retrying delivery was accepted; null: there is none.',
            ),
          })
          .describe(`Each number is counted up to ${LIMITS.backlogCountMax}.`),
        held_by: HeldBy.nullable().describe(
          'The cause that holds deliveries back; null: the destination holds none back.',
        ),
        next_attempt_at: Timestamp.nullable().describe(
          'The time of the next request: the next probe while the breaker is open, otherwise the next attempt that is due. null: nothing waits, or the destination is off.',
        ),
      }),
    }),
  }),
} as const
