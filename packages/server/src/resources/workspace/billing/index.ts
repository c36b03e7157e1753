import { encodeId, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { monthOf, nextMonthAt } from '../../../domain/workspace/month.ts'
import { checkPlan, limitsOf, type PlanLimits } from '../../../domain/workspace/plan.ts'
import { graceEndsAt, isOpen, projected } from '../../../domain/workspace/subscription.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { countPending } from '../../people/invites/index.ts'
import { describeWorkspace } from '../../operate/platform-workspaces/index.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../audit/index.ts'
import type { PaymentProvider } from './port.ts'
import { askProvider, providerOf, requireProvider } from './provider.ts'
import { findAccount, insertAccount, type AccountRow } from './queries.ts'

export { followPayments } from './follow.ts'

type Shown = RouteOutput<Routes['billing']['get']>['billing']

/** The plan of a workspace, its usage, and the subscription that pays for it (docs/adr/0140). */
export const billing: Room<'billing'> = {
  get: async (ctx) => {
    const now = ctx.clock.now()
    const period = { start: Date.parse(monthOf(now)), end: nextMonthAt(now) }
    const [{ plan, members, usage, retained_events, created_at }, pending, payments] = await Promise.all([
      describeWorkspace(ctx, ctx.workspaceId),
      countPending(ctx),
      paymentsOf(ctx),
    ])
    const pace = { ...period, began: Date.parse(created_at), now }
    const atEnd = (used: number | null): number | null => (used === null ? null : projected(used, pace))
    const { events, max_events, deliveries, max_deliveries } = usage
    return {
      billing: {
        plan: planOf(ctx, plan),
        period: { start: new Date(period.start).toISOString(), end: new Date(period.end).toISOString() },
        usage: {
          events: { used: events, max: max_events, projected: atEnd(events) },
          deliveries: { used: deliveries, max: max_deliveries, projected: atEnd(deliveries) },
          members: { used: members + pending, pending_invites: pending, max: limitsOf(ctx.plans, plan).members },
          retained_events,
        },
        payments,
      },
    }
  },

  checkout: async (ctx, { plan }) => {
    const provider = await requireProvider(ctx)
    checkPlan(ctx.plans, plan, 'plan')
    const priceId = provider.prices[plan]
    if (priceId === undefined)
      throw refuse(
        'invalid_request',
        `plan: this plan has no price here. Use one of ${Object.keys(provider.prices).join(', ')}.`,
      )
    const account = await findAccount(ctx.db, ctx)
    if (account !== undefined && isOpen(account.state))
      throw refuse(
        'invalid_state',
        'This workspace already has a subscription. Change it with POST /admin/api/billing/portal.',
      )
    const customerId = account?.customer_id ?? (await createCustomer(ctx, provider))
    const page = `${ctx.baseUrl()}/settings/billing`
    const asked = provider.checkout({ customerId, priceId, successUrl: `${page}?paid=${plan}`, cancelUrl: page })
    const url = await askProvider(ctx, asked)
    await inTransaction(ctx, async (tx) => {
      await insertAccount(tx.db, { workspaceId: tx.workspaceId, customerId, now: new Date(tx.clock.now()) })
      await audit(tx, { action: 'checkout_plan', target: encodeId('workspace', tx.workspaceId), details: { plan } })
    })
    return { page_url: url }
  },

  openPortal: async (ctx) => {
    const provider = await requireProvider(ctx)
    const account = await findAccount(ctx.db, ctx)
    if (account === undefined)
      throw refuse(
        'invalid_state',
        'This workspace never had a subscription. Buy a plan with POST /admin/api/billing/checkout.',
      )
    const asked = provider.portal({ customerId: account.customer_id, returnUrl: `${ctx.baseUrl()}/settings/billing` })
    const url = await askProvider(ctx, asked)
    await inTransaction(ctx, (tx) =>
      audit(tx, { action: 'open_billing_portal', target: encodeId('workspace', tx.workspaceId) }),
    )
    return { page_url: url }
  },
}

/** Two requests at the same time get the same customer, which the provider recognizes by the workspace. */
async function createCustomer(ctx: Ctx, provider: PaymentProvider): Promise<string> {
  const { workspaceId } = ctx
  const { name } = await describeWorkspace(ctx, workspaceId)
  return askProvider(ctx, provider.createCustomer({ workspaceId, name }))
}

async function paymentsOf(ctx: Ctx): Promise<Shown['payments']> {
  const provider = await providerOf(ctx)
  if (provider === undefined) return null
  const plans = Object.entries(provider.prices).map(async ([name, id]) => ({
    ...planOf(ctx, name),
    // An unreachable provider must not hide the usage.
    price: await provider.price(id).catch((cause: unknown) => {
      ctx.retryLog.warn('payment_provider.price_unknown', { cause })
      return null
    }),
  }))
  return { subscription: subscriptionOf(await findAccount(ctx.db, ctx)), plans: await Promise.all(plans) }
}

const NO_SUBSCRIPTION = {
  state: 'none',
  plan: null,
  period_end: null,
  ends_at_period_end: false,
  grace_ends_at: null,
} as const

function subscriptionOf(row: AccountRow | undefined): NonNullable<Shown['payments']>['subscription'] {
  if (row === undefined) return NO_SUBSCRIPTION
  return {
    state: row.state,
    plan: row.paid_plan,
    period_end: row.period_end?.toISOString() ?? null,
    ends_at_period_end: row.ends_at_period_end,
    grace_ends_at: row.past_due_since === null ? null : graceEndsAt(row.past_due_since).toISOString(),
  }
}

function planOf({ plans }: Ctx, name: string): { name: string; limits: PlanLimits } {
  return { name, limits: limitsOf(plans, name) }
}
