import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import type { LoopWork } from '../../../platform/separate-rows.ts'
import { separately } from '../../../platform/separately.ts'
import { handleEvents, takeEvents } from './inbox/index.ts'
import type { PaymentProvider } from './port.ts'
import { providerOf } from './provider.ts'
import { findByCustomer, listOfClosed, listStale } from './queries.ts'
import { syncSubscription } from './sync.ts'

const DAY_MS = 86_400_000
const AT_ONCE = 20
const REREAD_MS = DAY_MS

/**
 * Follows the payment provider: takes its events from the endpoint that the operator named, and reads their
 * subscriptions. Without a provider it does nothing. Two processes may run it at the same time. Counts events.
 */
export async function followPayments(deps: Deps): Promise<Pick<LoopWork, 'rows'>> {
  const { STRIPE_WEBHOOK_ENDPOINT: webhookId } = deps.config
  const provider = await providerOf(deps)
  if (provider === undefined || webhookId === undefined) return { rows: 0 }
  let rows = 0
  const handle = async (customerId: string): Promise<void> => {
    const found = await findByCustomer(deps.database, customerId)
    // The account at the provider can have customers of other products.
    if (found !== undefined) await syncSubscription(deps, { provider, workspaceId: found.workspace_id, customerId })
  }
  const parts = [
    () => takeEvents(deps, { provider, webhookId }),
    async () => {
      rows = await handleEvents(deps, handle)
    },
    () => rereadStale(deps, provider),
  ]
  await separately(parts, (part) => part())
  return { rows }
}

/**
 * A lost event delays a change by a day at most. The end of a grace needs no event at all. A subscription that the provider
 * refuses to change or to read delays no other, and its failure is reported after them.
 */
async function rereadStale(deps: Deps, provider: PaymentProvider): Promise<void> {
  const work: (() => Promise<void>)[] = []
  const sync = (workspaceId: string, customerId: string) =>
    void work.push(() => syncSubscription(deps, { provider, workspaceId, customerId }))
  for (const { customer_id, subscription_id, workspace_id } of await listOfClosed(deps.database, AT_ONCE)) {
    work.push(() => provider.endAtPeriodEnd(subscription_id))
    sync(workspace_id, customer_id)
  }
  const now = deps.clock.now()
  const stale = await listStale(deps.database, {
    readBefore: new Date(now - REREAD_MS),
    now: new Date(now),
    graceFrom: new Date(now - LIMITS.billingGraceDays * DAY_MS),
    limit: AT_ONCE,
  })
  for (const { customer_id, workspace_id } of stale) sync(workspace_id, customer_id)
  await separately(work, (one) => one())
}
