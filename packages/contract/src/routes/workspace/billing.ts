import { z } from 'zod'
import { LIMITS } from '../../limits.ts'
import { Text, Timestamp } from '../../list.ts'
import { defineRoute } from '../../route.ts'

/** The state of a subscription. `past_due`: a payment failed, and the plan stays until `grace_ends_at`. */
export const SUBSCRIPTION_STATES = [
  'none',
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'canceled',
] as const

const amount = (what: string) => z.int().nullable().describe(`${what} null: any number.`)

export const PlanDescription = z.object({
  name: z.string(),
  limits: z.object({
    events_per_month: amount('Accepted events in a month (UTC).'),
    deliveries_per_month: amount('Deliveries in a month (UTC).'),
    members: amount('Members and pending invites.'),
    stream_connections: amount('Open connections to the live stream.'),
    max_in_flight: z
      .int()
      .nullable()
      .describe(`The most concurrent sends of one destination. null: ${LIMITS.maxInFlightMax.toLocaleString('en')}.`),
    descendants_per_event: amount('Events that workflows and agents may make from one event, over all hops.'),
    retention_days: z.int().describe('The number of days that events are stored.'),
    audit_retention_days: z.int().nullable().describe('The number of days that audit rows are stored. null: forever.'),
    ingest_per_second: z
      .number()
      .describe('The average number of requests per second for one credential. 0: no limit.'),
    ingest_burst: z.int().describe('The maximum burst of requests for one credential.'),
  }),
})

const meter = {
  max: z.int().nullable().describe('The limit of the plan. null: any number.'),
  projected: z
    .int()
    .nullable()
    .describe(
      'The number at the end of the period, at the average pace since its start or since the workspace was made. null: it is not counted, or this lasts for less than a day.',
    ),
}

export const Billing = z.object({
  plan: PlanDescription,
  period: z.object({
    start: Timestamp,
    end: Timestamp.describe('The counts start again at this time.'),
  }),
  usage: z.object({
    events: z.object({ used: z.int().describe('Events accepted in the period.'), ...meter }),
    deliveries: z.object({
      used: z
        .int()
        .nullable()
        .describe('Deliveries counted in the period. null: the plan has no limit, so they are not counted.'),
      ...meter,
    }),
    members: z.object({
      used: z.int().describe('Members and pending invites. Both count against the limit.'),
      pending_invites: z.int(),
      max: z.int().nullable().describe('The limit of the plan. null: any number.'),
    }),
    retained_events: z
      .int()
      .describe('Events that the workspace stores now, as the counts of the dashboard know them.'),
  }),
  payments: z
    .object({
      subscription: z.object({
        state: z.enum(SUBSCRIPTION_STATES),
        plan: z.string().nullable().describe('The plan that the subscription pays for. null: none.'),
        period_end: Timestamp.nullable().describe('The subscription is renewed or ends at this time.'),
        ends_at_period_end: z
          .boolean()
          .describe('true: the subscription was canceled. The plan stays until `period_end`, then it is `free`.'),
        grace_ends_at: Timestamp.nullable().describe(
          'With `past_due`: the plan becomes `free` at this time, unless a payment succeeds before it.',
        ),
      }),
      plans: z
        .array(
          PlanDescription.extend({
            price: z
              .object({
                amount: z.int().describe('In the smallest unit of the currency, such as cents.'),
                currency: z.string().describe('In lower case, such as `usd`.'),
                interval: z.enum(['day', 'week', 'month', 'year']),
              })
              .nullable()
              .describe('null: the payment provider is not responding.'),
          }),
        )
        .describe('The plans that can be bought.'),
    })
    .nullable()
    .describe('null: no payment provider is configured, and an operator changes the plan.'),
})

/** Billing is for owners in the console. It stays possible in a suspended workspace (contract part 1). */
const OWNERS = { role: 'owner', scope: 'service:manage', callers: 'people' } as const

const page = z.object({ page_url: z.string().describe('A page of the payment provider. Send the browser there.') })

export const billing = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'billing',
    summary: 'Get plan, usage and billing',
    description:
      'The plan with its limits, the usage of this month (UTC), and the projection for its end: used × length of the month ÷ elapsed time, where the elapsed time counts as one day at least. With a payment provider also the subscription, and the plans with their prices.',
    ...OWNERS,
    whileSuspended: 'read',
    afterClaim: true,
    status: 200,
    output: z.object({ billing: Billing }),
  }),
  checkout: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'billing/checkout',
    summary: 'Buy a plan',
    description:
      'Creates a payment page for a plan. The plan changes when the payment provider reports the payment. A workspace that has a subscription changes it with POST billing/portal.',
    ...OWNERS,
    whileSuspended: 'allowed',
    afterClaim: true,
    status: 200,
    waitsForOthers: true,
    body: z.strictObject({ plan: Text.min(1).max(100).describe('A plan of `payments.plans`, such as `team`.') }),
    output: page,
  }),
  openPortal: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'billing/portal',
    summary: 'Manage the subscription',
    description:
      'Creates a page where the owner changes or cancels the subscription, changes the payment method, and reads invoices.',
    ...OWNERS,
    whileSuspended: 'allowed',
    afterClaim: true,
    status: 200,
    waitsForOthers: true,
    output: page,
  }),
} as const
