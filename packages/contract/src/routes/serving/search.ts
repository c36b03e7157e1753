import { z } from 'zod'
import { CONDITION_OPS, Conditions } from '../../condition.ts'
import { idInput, type IdKind } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { DatasetName, ListQuery, listOf, Text, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'
import { Rejection } from '../../rejection.ts'
import { VERIFIED_SCHEMES } from '../../verification.ts'
import { Attempt, Delivery, DELIVERY_STATES } from '../delivery/deliveries.ts'
import { RecordItem } from '../capture/records.ts'
import { Submission, SubmissionDetail } from '../capture/submissions.ts'

const { searchTextCharsMax, correlatedDeliveriesMax, correlatedAttemptsMax } = LIMITS

const Ended = {
  ended_at: Timestamp.nullable().describe('null: it has not ended yet, or nobody knows when.'),
  duration_ms: z.int().nullable(),
}

/** One thing that happened: the same members whatever it is, so that a timeline can be drawn from them alone. */
export const Moment = z.object({
  kind: z.enum(['submission', 'record', 'delivery', 'attempt', 'rejection']),
  id: z.string(),
  parent_id: z
    .string()
    .nullable()
    .describe('What it came from: a record from a submission, a delivery from a record, an attempt from a delivery.'),
  at: Timestamp,
  ...Ended,
  state: z
    .string()
    .describe(
      'accepted, filed, the state of a delivery, the outcome of an attempt or `sending` while it is under way, or the reason of a rejection.',
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
  'destination',
  'replay',
  'project',
] as const satisfies readonly IdKind[]

export const Story = z.object({
  id: z.string().describe('The id that was asked for.'),
  subject: z
    .object({ kind: z.enum(SUBJECT_KINDS), id: z.string(), name: z.string().nullable() })
    .describe('What the id names. A Request-Id names the submission or the rejection that the request led to.'),
  rejection: Rejection.nullable().describe('The refused requests of a minute, for the id of a rejection.'),
  submission: SubmissionDetail.omit({ body: true, body_base64: true })
    .extend({
      verified_scheme: z
        .enum(VERIFIED_SCHEMES)
        .describe('The scheme whose signature was right; none: none was asked for.'),
    })
    .nullable()
    .describe('null: the id names no single event. Then records and deliveries are the newest ones that belong to it.'),
  records: z.array(RecordItem.omit({ data: true, webhook_id: true, header_title: true })),
  deliveries: z.array(
    Delivery.extend({
      ...Ended,
      attempts: z.array(Attempt.omit({ response_headers: true, response_body: true }).extend(Ended)),
    }),
  ),
  timeline: z.array(Moment).describe('All of it in the order of time.'),
  truncated: z
    .boolean()
    .describe(
      `There are more than ${correlatedDeliveriesMax} deliveries or ${correlatedAttemptsMax} attempts; the first ones are here.`,
    ),
})

const FORM = 'a condition is <path>:<op>:<value>, such as data.amount:gt:100 or id:exists'

/** `<path>:<op>:<value>` → what the dialect of conditions takes: a number for gt and its like, a list behind `in`. */
function conditionOf(text: string): object | undefined {
  const [, sent = '', op = '', value] = /^((?:\\.|[^:\\])+):([a-z_]+)(?::([^]*))?$/.exec(text) ?? []
  // A literal colon of a key is `\:` here; all else that a backslash stands before is the path's own.
  const path = sent.replaceAll(/\\(.)/g, (pair, letter) => (letter === ':' ? ':' : pair))
  if (!CONDITION_OPS.some((one) => one === op)) return undefined
  if (op === 'exists') return value === undefined ? { path, op } : undefined
  if (value === undefined) return undefined
  if (op === 'in') return { path, op, value: value.split(',') }
  if (['gt', 'gte', 'lt', 'lte'].includes(op))
    return value.trim() === '' ? undefined : { path, op, value: Number(value) }
  return { path, op, value }
}

/** Repeatable: all of them must hold. */
const PayloadConditions = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((sent, context) => {
    const texts = sent === undefined ? [] : [sent].flat()
    const read = Conditions.safeParse(texts.map(conditionOf))
    if (read.success) return read.data
    const bad = texts.find((text) => conditionOf(text) === undefined)
    context.issues.push({
      code: 'custom',
      input: sent,
      message: bad === undefined ? (read.error.issues[0]?.message ?? FORM) : `${FORM}; "${bad.slice(0, 80)}" is none`,
    })
    return z.NEVER
  })
  .describe(
    '`<path>:<op>:<value>` on the payload, in the dialect of rules; a literal colon in a path is `\\:`, and `in` takes values with commas between. May be repeated: all must match.',
  )

/** Decisions on queries: what every search takes. */
const SearchQuery = ListQuery.extend({
  q: Text.min(1)
    .max(searchTextCharsMax)
    .optional()
    .describe('Text that the payload has in it; upper and lower case are alike.'),
  f: PayloadConditions,
  dataset: DatasetName.optional().describe('Only of this dataset.'),
  webhook: idInput('webhook').optional().describe('Only what this endpoint received.'),
  ...TimeRange,
})

const BOUNDED =
  'One call looks at a bounded part of what there is, newest first, so a page may contain fewer than the limit, or none: continue with next_cursor until it is null.'

/** How far one call has looked: pages may be empty, so that is what tells that a search goes on. */
const reached = Timestamp.nullable().describe(
  'Everything that came from this time on has been looked through; null: all of the range.',
)

const budget_used_up = z
  .boolean()
  .optional()
  .describe(
    'Set when the call took as much work as it may do and ended early: next_cursor goes on behind what was looked at.',
  )

const States = z
  .string()
  .transform((text) => text.split(','))
  .pipe(
    z.array(z.enum(DELIVERY_STATES, `a state is one of ${DELIVERY_STATES.join(', ')}; separate several with commas`)),
  )

export const search = {
  deliveries: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/deliveries',
    summary: 'Search deliveries',
    description: `Deliveries by their state, their destination and what is in their payload. ${BOUNDED}`,
    ...READ,
    status: 200,
    query: SearchQuery.extend({
      destination: idInput('destination').optional().describe('Only those for this destination.'),
      state: States.optional().describe('Only those in one of these states, with commas between.'),
    }),
    output: listOf('deliveries', Delivery).extend({ reached, budget_used_up }),
  }),
  events: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/events',
    summary: 'Search events',
    description: `Records by the content of their payload and by the states of their deliveries. ${BOUNDED}`,
    ...READ,
    status: 200,
    query: SearchQuery.extend({
      destination: idInput('destination').optional().describe('Only those that have a delivery for this destination.'),
      state: States.optional().describe(
        'Only those that have a delivery in one of these states, with commas between; with `destination` it is one delivery that must be both.',
      ),
      rule: idInput('rule').optional().describe('Only those that this rule filed.'),
    }),
    output: listOf('records', RecordItem).extend({
      scanned: z.int().describe('How many records this call has looked at.'),
      reached,
      budget_used_up,
    }),
  }),
  submissions: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'search/submissions',
    summary: 'Search requests that were filed nowhere',
    description: `Accepted requests of which no record was made, because no criteria and no rule took them, by what is in their body. \`search/events\` has all others. ${BOUNDED}`,
    ...READ,
    status: 200,
    query: SearchQuery.omit({ dataset: true }),
    output: listOf('submissions', Submission).extend({
      scanned: z.int().describe('How many submissions this call has passed, filed ones too.'),
      unfiled: z.int().describe('How many of them were filed nowhere: their bodies were looked through.'),
      unreadable: z
        .int()
        .describe('How many bodies could not be read as a payload, so that they were not looked through.'),
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
      'From the id of a submission, a record, a delivery or an attempt, or the Request-Id of an ingest request: what came, what was decided, what was filed ' +
      'and what was sent, with its times. From the id of a rejection: the refused requests. From the id of an endpoint, a record view, a dataset, a rule, an ingest key, ' +
      'a destination, a replay or the project: what it is, and its newest 20 events or deliveries; those of a rule, a key or a replay are sought among the newest 500. ' +
      'Payloads and answers are left out; GET of the submission, the record or the delivery has them.',
    ...READ,
    status: 200,
    params: z.object({ id: z.string().max(200) }),
    output: Story,
  }),
} as const
