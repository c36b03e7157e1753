import { z } from 'zod'
import { HeaderConditions, PayloadConditions, QueryConditions, ResponseConditions } from '../../condition-query.ts'
import { CURSOR_CHARS_MAX } from '../../data-api.ts'
import { idInput, idOutput, type IdKind } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'
import { Rejection } from '../../rejection.ts'
import { VERIFIED_SCHEMES } from '../../schemes.ts'
import { Attempt, Delivery, DELIVERY_STATES, Held, ListedDelivery } from '../delivery/deliveries.ts'
import { AiRun } from '../automation/ai-runs.ts'
import { WorkflowInstance } from '../automation/workflow-instances.ts'
import { RecordItem } from '../capture/records.ts'
import { Submission, SubmissionDetail } from '../capture/submissions.ts'

const { searchTextCharsMax, searchScannedMax, correlatedDeliveriesMax, correlatedAttemptsMax } = LIMITS

const Ended = {
  ended_at: Timestamp.nullable().describe('null: it has not ended yet, or the time is unknown.'),
  duration_ms: z.int().nullable(),
}

/** One thing that happened. Every kind has the same members, so a timeline needs nothing else. */
export const Moment = z.object({
  kind: z.enum(['submission', 'record', 'delivery', 'attempt', 'rejection']),
  id: z.string(),
  parent_id: z
    .string()
    .nullable()
    .describe('The id of the submission of a record, of the record of a delivery, or of the delivery of an attempt.'),
  at: Timestamp,
  ...Ended,
  state: z
    .string()
    .describe(
      'accepted, filed, the state of a delivery, the outcome of an attempt (`sending` while it is in progress), or the reason of a rejection.',
    ),
})

/** The kinds of ids that lead to events. */
export const SUBJECT_KINDS = [
  'submission',
  'record',
  'delivery',
  'attempt',
  'rejection',
  'webhook',
  'recordView',
  'dataset',
  'rule',
  'ingestKey',
  'source',
  'cronTrigger',
  'wsTrigger',
  'destination',
  'replay',
  'workflow',
  'workflowInstance',
  'aiAgent',
  'aiTrigger',
  'aiRun',
  'project',
] as const satisfies readonly IdKind[]

export const Story = z.object({
  id: z.string().describe('The id in the request.'),
  subject: z
    .object({ kind: z.enum(SUBJECT_KINDS), id: z.string(), name: z.string().nullable() })
    .describe('The resource that the id names. A Request-Id names the submission or the rejection of that request.'),
  rejection: Rejection.nullable().describe('The rejected requests of a minute, for the id of a rejection.'),
  submission: SubmissionDetail.omit({ body: true, body_base64: true })
    .extend({
      verified_scheme: z
        .enum(VERIFIED_SCHEMES)
        .describe('The scheme of the signature that was verified; none: none was required.'),
    })
    .nullable()
    .describe(
      'null: the id does not name a single event. Records and deliveries are then the newest ones that belong to it.',
    ),
  records: z.array(
    RecordItem.omit({ data: true, webhook_id: true, origin: true, verification: true, header_title: true }),
  ),
  deliveries: z.array(
    Delivery.extend({
      ...Ended,
      attempts: z.array(Attempt.omit({ response_headers: true, response_body: true, request: true }).extend(Ended)),
    }),
  ),
  workflow_instances: z
    .array(WorkflowInstance)
    .describe(`The instances that the records started, newest first, at most ${correlatedDeliveriesMax}.`),
  ai_runs: z
    .array(AiRun.omit({ output: true }))
    .describe(`The AI runs on the records, newest first, at most ${correlatedDeliveriesMax}.`),
  timeline: z.array(Moment).describe('Everything in order of time.'),
  truncated: z
    .boolean()
    .describe(
      `true: there are more than ${correlatedDeliveriesMax} deliveries, workflow instances or AI runs, or more than ${correlatedAttemptsMax} attempts, and only some are here.`,
    ),
})

/** Where a search looks for text. */
const TEXT_PLACES = ['payload', 'headers'] as const
const PLACES_OF_DELIVERIES = [...TEXT_PLACES, 'response'] as const

const placesOf = <const Place extends string>(places: readonly [Place, ...Place[]]) =>
  z
    .string()
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(places, `a place is one of ${places.join(', ')}; separate several with commas`)))
    .optional()
    .describe(
      `Where to look for \`q\`: ${places.join(', ')}, separated by commas. The headers include the query string. Absent: payload.`,
    )

/** The query of every search (decisions on queries). */
const SearchQuery = ListQuery.extend({
  q: Text.min(1).max(searchTextCharsMax).optional().describe('Text that the payload contains, in upper or lower case.'),
  in: placesOf(TEXT_PLACES),
  f: PayloadConditions,
  header: HeaderConditions,
  query: QueryConditions,
  dataset: DatasetName.optional().describe('Only events of this dataset.'),
  webhook: idInput('webhook').optional().describe('Only events that this endpoint received.'),
  ...TimeRange,
})

const Repeated = z
  .enum(['duplicate', 'key_reused'])
  .optional()
  .describe(
    'Only events that were repeated (`duplicate`), or whose key an earlier event with another body had (`key_reused`).',
  )

const BOUNDED = `One call searches for at most 2 seconds and reads at most ${searchScannedMax} items, newest first, so a page may contain fewer items than the limit, or none. Continue with next_cursor until it is null.`

/** The progress of one call. Pages can be empty, so this shows that the search makes progress. */
const reached = Timestamp.nullable().describe(
  'The call has searched everything from this time on; null: the whole range.',
)

const read = z
  .int()
  .describe('The number of these that it looked at one by one. The search index ruled out the others.')

const budget_used_up = z
  .boolean()
  .optional()
  .describe('true: the call used up its work budget and ended early. Continue with next_cursor.')

/** `stuck` is not a state: the delivery waits, and its destination fails or is off. */
const SEARCH_STATES = [...DELIVERY_STATES, 'stuck'] as const

const States = z
  .string()
  .transform((text) => text.split(','))
  .pipe(z.array(z.enum(SEARCH_STATES, `a state is one of ${SEARCH_STATES.join(', ')}; separate several with commas`)))

const STUCK =
  '`stuck`: the delivery waits, and the breaker of its destination is not closed or Postroad has turned the destination off.'

export const search = {
  wait: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'events/wait',
    summary: 'Wait for events',
    description:
      'The next events of a dataset after a cursor, in the order in which they became visible. Without any, the call waits for them, so a program needs no server to react. Each event comes at least once: continue with the cursor ' +
      'of the answer once its events are done, and with the previous one after a failure. A waiting call counts as an open stream of the plan.',
    ...READ,
    status: 200,
    waitsForOthers: true,
    query: z.object({
      dataset: DatasetName.describe('The dataset of the events.'),
      f: PayloadConditions,
      after: z
        .string()
        .max(CURSOR_CHARS_MAX)
        .optional()
        .describe('`cursor` of the previous answer. Absent: only events from now on.'),
      wait_seconds: z.coerce
        .number()
        .int()
        .min(0)
        .max(LIMITS.eventWaitSecondsMax)
        .default(LIMITS.eventWaitSecondsDefault)
        .describe(`How long to wait, up to ${LIMITS.eventWaitSecondsMax} seconds; 0: not at all.`),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(LIMITS.eventWaitEventsMax)
        .default(LIMITS.eventWaitEventsDefault)
        .describe(`The most events, 1 to ${LIMITS.eventWaitEventsMax}.`),
    }),
    output: z.object({
      events: z
        .array(z.object({ id: idOutput('record'), dataset: z.string(), received_at: Timestamp, data: z.unknown() }))
        .describe('Empty: none came in time.'),
      cursor: z.string().describe('Send it as `after` once these events are done.'),
    }),
  }),
  deliveries: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/deliveries',
    summary: 'Search deliveries',
    description: `Searches deliveries by state, destination, payload, headers, responses and the rule that filed the event. With \`q\`, \`f\`, \`header\` or \`query\`, the deliveries may be in the order of their events. ${BOUNDED}`,
    ...READ,
    status: 200,
    query: SearchQuery.extend({
      in: placesOf(PLACES_OF_DELIVERIES),
      response: ResponseConditions,
      destination: idInput('destination').optional().describe('Only deliveries to this destination.'),
      state: States.optional().describe(`Only deliveries in one of these states, separated by commas. ${STUCK}`),
      held_by: Held,
      rule: idInput('rule').optional().describe('Only those of records that this rule filed.'),
    }),
    output: listOf('deliveries', ListedDelivery).extend({
      scanned: z.int().describe('The number of deliveries that this call searched.'),
      read,
      reached,
      budget_used_up,
    }),
  }),
  events: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/events',
    summary: 'Search events',
    description: `Searches records by payload and by the states of their deliveries. ${BOUNDED}`,
    ...READ,
    status: 200,
    query: SearchQuery.extend({
      destination: idInput('destination').optional().describe('Only records with a delivery to this destination.'),
      state: States.optional().describe(
        `Only records with a delivery in one of these states, separated by commas. With \`destination\`, the same delivery must match both. ${STUCK}`,
      ),
      rule: idInput('rule').optional().describe('Only records that this rule filed.'),
      repeated: Repeated,
    }),
    output: listOf('records', RecordItem).extend({
      scanned: z.int().describe('The number of records that this call searched.'),
      read,
      reached,
      budget_used_up,
    }),
  }),
  submissions: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/submissions',
    summary: 'Search requests that were filed nowhere',
    description: `Searches the bodies of accepted requests without a record, because no criteria and no rule matched them. \`search/events\` covers all others. ${BOUNDED}`,
    ...READ,
    status: 200,
    query: SearchQuery.omit({ dataset: true }).extend({ repeated: Repeated }),
    output: listOf('submissions', Submission).extend({
      scanned: z.int().describe('The number of submissions that this call passed, including filed ones.'),
      read,
      unfiled: z.int().describe('The number of these that were filed nowhere, so their bodies were searched.'),
      unreadable: z
        .int()
        .describe('The number of bodies that could not be read as a payload, so they were not searched.'),
      reached,
      budget_used_up,
    }),
  }),
  correlate: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/correlate/{id}',
    summary: 'Get the whole story of an event',
    description:
      'For the id of a submission, a record, a delivery, an attempt, a workflow instance or an AI run, or the Request-Id of an ingest request: the request, the routing decision, the records, and the ' +
      'deliveries with their attempts and times. For the id of a rejection: the rejected requests. For the id of an endpoint, a record view, a dataset, a rule, an ingest key, a source, a cron trigger, a WebSocket trigger, ' +
      'a destination, a replay, a workflow, an AI agent, a trigger or the project: its name and its newest 20 events or deliveries; those of a rule, a key, a source, a trigger or a replay are taken from the newest 500. ' +
      'Payloads and responses are left out: get the submission, the record or the delivery to read them.',
    ...READ,
    status: 200,
    params: z.object({ id: z.string().max(200) }),
    output: Story,
  }),
} as const
