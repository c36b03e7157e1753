import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { auditDetails, beginReplay, countWaiting, planOf, type StoredFilter } from '../replays/index.ts'
import type { Room } from '../../verbs.ts'
import { presentDestination } from './present.ts'
import { findDestination } from './queries.ts'
import { update } from './update.ts'

const WAITING_COUNTED_MAX = 10_000

/**
 * Recovers every delivery since a time. A replay sends those that failed; those that are paused are sent when the destination
 * is on. An event that arrived while it was off has a paused delivery (pipeline/route/fan-out.ts), so none are missing.
 */
export const recover: Room<'destinations'>['recover'] = async (
  ctx,
  { id, since, enable, include_cancelled, rate_per_second: ratePerSecond, dry_run },
) => {
  const held = await findDestination(ctx.db, { ...ctx, id })
  if (held === undefined) throw refuse('not_found')
  const filter: StoredFilter = {
    state: include_cancelled ? ['failed', 'cancelled'] : ['failed'],
    destination_id: id,
    conditions: [],
    from: since.toISOString(),
  }
  const asked = { filter, ratePerSecond }
  const waiting = await countWaiting(ctx.db, {
    ...ctx,
    destinationId: id,
    fromId: uuidv7Floor(since.getTime()),
    limit: WAITING_COUNTED_MAX,
  })
  const plan = { ...(await planOf(ctx, asked)), waiting }
  if (dry_run) return { plan, replay: null, destination: presentDestination(ctx, held) }
  return inTransaction(ctx, async (tx) => {
    if (enable && !held.enabled) await update(tx, { id, enabled: true })
    const row = await findDestination(tx.db, { ...tx, id, lock: true })
    if (row === undefined) throw refuse('not_found')
    const replay = await beginReplay(tx, { ...asked, plan, kind: 'recover' })
    const details = {
      ...auditDetails({ ...asked, plan }),
      since: since.toISOString(),
      waiting,
      replay: replay?.id ?? null,
    }
    await audit(tx, { action: 'recover_destination', target: encodeId('destination', id), details })
    return { plan, replay, destination: presentDestination(tx, row) }
  })
}
