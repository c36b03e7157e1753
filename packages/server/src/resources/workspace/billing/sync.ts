import { encodeId } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { dayText, type EmailText } from '../../../domain/people/email-text.ts'
import { graceEndsAt, paidPlan, UNPAID_PLAN, type Subscription } from '../../../domain/workspace/subscription.ts'
import { inTransaction } from '../../../transaction.ts'
import { notifyOwners } from '../../people/notices/index.ts'
import { audit } from '../audit/index.ts'
import { changePlan, findWorkspace } from '../workspaces/index.ts'
import type { PaymentProvider } from './port.ts'
import { findAccount, putSubscription, type AccountRow } from './queries.ts'

const USEFUL_MS = 7 * 86_400_000

/**
 * Asks the provider for the present subscription of a workspace and applies it. Repeated and reordered events end in the same
 * state, and an answer that was requested before the stored one changes nothing.
 */
export async function syncSubscription(
  deps: Deps,
  of: { provider: PaymentProvider; workspaceId: string; customerId: string },
): Promise<void> {
  const { provider, workspaceId, customerId } = of
  const readAt = new Date(deps.clock.now())
  const subscription = await provider.findSubscription(customerId)
  const database = deps.database.forWorkspace(workspaceId)
  const ctx = { ...asSystem(deps, { workspaceId, projectId: '', requestId: 'billing' }), database, db: database }
  await inTransaction(ctx, async (tx) => {
    const before = await findAccount(tx.db, { workspaceId, lock: true })
    if (before === undefined || (before.read_at !== null && before.read_at > readAt)) return
    const after = accountAfter(before, { subscription, prices: provider.prices, readAt })
    await putSubscription(tx.db, after)
    if (!isSame(before, after)) await announce(tx, { before, after })
    await applyPlan(tx, { before, after })
  })
}

type Account = Omit<AccountRow, 'customer_id' | 'read_at'> & { readonly read_at: Date }

function accountAfter(
  before: AccountRow,
  of: { subscription: Subscription | undefined; prices: Readonly<Record<string, string>>; readAt: Date },
): Account {
  const { subscription, prices, readAt } = of
  const { workspace_id, past_due_since } = before
  const read = { workspace_id, read_at: readAt }
  if (subscription === undefined) return { ...read, ...NOTHING }
  const { id, state, price_id, period_end, ends_at_period_end } = subscription
  const pastDueSince = state === 'past_due' ? (past_due_since ?? readAt) : null
  return {
    ...read,
    subscription_id: id,
    state,
    paid_plan: paidPlan({ subscription, prices, pastDueSince, now: readAt }),
    price_id,
    period_end,
    ends_at_period_end,
    past_due_since: pastDueSince,
  }
}

const NOTHING = {
  subscription_id: null,
  state: 'none',
  paid_plan: null,
  price_id: null,
  period_end: null,
  ends_at_period_end: false,
  past_due_since: null,
} as const

function isSame(before: AccountRow, after: Account): boolean {
  return (
    before.state === after.state &&
    before.paid_plan === after.paid_plan &&
    before.ends_at_period_end === after.ends_at_period_end &&
    before.subscription_id === after.subscription_id
  )
}

async function announce(tx: Ctx, { before, after }: { before: AccountRow; after: Account }): Promise<void> {
  await audit(tx, {
    action: 'update_subscription',
    target: encodeId('workspace', after.workspace_id),
    details: {
      state: after.state,
      previous_state: before.state,
      plan: after.paid_plan,
      ends_at_period_end: after.ends_at_period_end,
    },
  })
  if (after.past_due_since === null || before.past_due_since !== null) return
  await notifyOwners(tx, {
    kind: 'payment_failed',
    message: failedEmail({ until: graceEndsAt(after.past_due_since), upgradeUrl: tx.upgradeUrl() }),
    usefulMs: USEFUL_MS,
  })
}

/**
 * The plan changes when the subscription changes. Until then, a plan that an operator set stays, and the end of a
 * subscription takes away only the plan that it paid for.
 */
async function applyPlan(tx: Ctx, { before, after }: { before: AccountRow; after: Account }): Promise<void> {
  if (before.paid_plan === after.paid_plan) return
  if (after.paid_plan !== null) {
    await changePlan(tx, after.paid_plan)
    return
  }
  const workspace = await findWorkspace(tx.db, after.workspace_id)
  if (workspace?.plan === before.paid_plan) await changePlan(tx, UNPAID_PLAN)
}

function failedEmail({ until, upgradeUrl }: { until: Date; upgradeUrl: string }): EmailText {
  return {
    subject: 'A payment failed',
    lines: [
      `The payment for your plan failed. Your plan stays until ${dayText(until.getTime())}, and the payment provider retries the payment before that.`,
      `Without a payment the workspace then moves to the plan ${UNPAID_PLAN}. Stored data is not deleted, except data beyond the shorter retention of that plan.`,
    ],
    action: { label: 'Check the payment method', url: upgradeUrl },
  }
}
