import type { Deps } from '../../../../context.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../../platform/ids.ts'
import { separately } from '../../../../platform/separately.ts'
import type { PaymentProvider } from '../port.ts'
import {
  findEndpoint,
  findLastTaken,
  listOpenEvents,
  listUntaken,
  pruneEvents,
  setHandled,
  setTriedAgainAt,
  takeEvent,
  type OpenEvent,
} from './queries.ts'

const AT_ONCE = 100
/** Ids are created before the commit, so an earlier one may become visible later. No commit takes nearly this long. */
const OVERLAP_MS = 600_000
const KEPT_MS = 90 * 86_400_000
const RETRY_MS_MIN = 2_000
const RETRY_MS_MAX = 300_000
/** The scheme of the provider's signatures. Without it, anyone who knows the URL could send events. */
const SCHEME = 'payments_provider'

/** Takes the stored requests of the endpoint into the table of events: each once, in any order of their commits. */
export async function takeEvents(
  deps: Deps,
  { provider, webhookId }: { provider: PaymentProvider; webhookId: string },
): Promise<void> {
  const { database, clock, retryLog } = deps
  const endpoint = await findEndpoint(database, webhookId)
  if (endpoint?.scheme !== SCHEME) {
    const cause =
      endpoint === undefined
        ? 'No endpoint has the id in STRIPE_WEBHOOK_ENDPOINT, so payments do not change plans.'
        : `The endpoint in STRIPE_WEBHOOK_ENDPOINT must verify signatures with the scheme ${SCHEME}. Until then, Postroad does not read its events.`
    retryLog.warn('billing.endpoint_unusable', { cause })
    return
  }
  const last = await findLastTaken(database)
  const now = new Date(clock.now())
  const rows = await listUntaken(database, {
    workspaceId: endpoint.workspace_id,
    webhookId,
    fromId: uuidv7Floor(last === undefined ? 0 : Math.max(0, uuidv7Ms(last.submission_id) - OVERLAP_MS)),
    limit: AT_ONCE,
  })
  // A request that fails is listed again while the position is near it. Later, the daily read makes up for it.
  const take = () =>
    separately(rows, ({ id, received_at: receivedAt, body }) =>
      takeEvent(database, { submissionId: id, receivedAt, now, event: provider.readEvent(body ?? '') }),
    )
  const prune = async (): Promise<void> => {
    const before = new Date(now.getTime() - KEPT_MS)
    if (last !== undefined) await pruneEvents(database, { before, last: last.submission_id })
  }
  await separately([take, prune], (part) => part())
}

/**
 * Calls `handle` once for each customer with open events. A failed call is repeated later and delays no other customer.
 * Resolves to the number of events.
 */
export async function handleEvents(deps: Deps, handle: (customerId: string) => Promise<void>): Promise<number> {
  const open = await listOpenEvents(deps.database, { now: new Date(deps.clock.now()), limit: AT_ONCE })
  await separately([...Map.groupBy(open, (event) => event.customer_id)], ([customerId, events]) =>
    handleOne(deps, { events, work: () => handle(customerId) }),
  )
  return open.length
}

async function handleOne(
  deps: Deps,
  { events, work }: { events: readonly OpenEvent[]; work: () => Promise<void> },
): Promise<void> {
  const submissionIds = events.map((event) => event.submission_id)
  try {
    await work()
    await setHandled(deps.database, { submissionIds, now: new Date(deps.clock.now()) })
  } catch (cause) {
    deps.retryLog.warn('billing.event_not_handled', { cause })
    const tries = Math.min(10, ...events.map((event) => event.tries))
    const tryAt = new Date(deps.clock.now() + Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** tries))
    await setTriedAgainAt(deps.database, { submissionIds, tryAt })
  }
}
