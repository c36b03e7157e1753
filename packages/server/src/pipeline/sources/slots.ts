import { encodeId } from '@postroad/contract'
import { asSystem } from '../../as-system.ts'
import type { Deps } from '../../context.ts'
import type { DropAsked, Features } from '../../features.ts'
import { dropReplication, lookAtSlot } from '../../platform/foreign-databases/replication/index.ts'
import {
  claimSlots,
  forgetSlot,
  notifyRetains,
  openSourceSecret,
  retainsTooMuch,
  storeSlot,
  warningOf,
  type ClaimedSlot,
} from '../../resources/sources/sources/index.ts'
import type { StoredSlot } from '../../resources/sources/sources/queries.ts'
import { SeparateRows } from '../../platform/separate-rows.ts'
import { inTransaction } from '../../transaction.ts'
import { replicationPlan, type ReplicationSettings } from './readers/replication-plan.ts'

const LOOK_MS = 60_000
/** The pause after a failed check, which the state of the source already shows. */
const AGAIN_MS = 600_000
const AT_ONCE = 8
const CALL_MS_MAX = 15_000

type Of = Pick<Deps, 'reach'>

/**
 * Checks the replication slots of all sources, read or not: a slot that no process reads fills the disk of the other
 * database. The slots of deleted projects and closed workspaces are dropped.
 */
export async function watchSlots(deps: Deps): Promise<void> {
  const now = deps.clock.now()
  const due = await claimSlots(deps.database, { now: new Date(now), until: new Date(now + AGAIN_MS), limit: AT_ONCE })
  const rows = new SeparateRows(deps.retryLog, 'source.slot_not_seen')
  const work = (source: ClaimedSlot) => (source.doomed ? drop(deps, source) : look(deps, source))
  await Promise.all(due.map((source) => rows.run({ kind: 'source', id: source.id }, () => work(source))))
}

/** Drops the objects that this server created for a source. A failure names them and the statement that removes them. */
export async function dropSourceReplication({ reach }: Of, asked: DropAsked): ReturnType<Features['dropReplication']> {
  try {
    const plan = replicationPlan(asked)
    await dropReplication({ reach, plan, signal: AbortSignal.timeout(CALL_MS_MAX) })
    return { ok: true }
  } catch (error) {
    const own = `postroad_${asked.id.replaceAll('-', '')}`
    const said = error instanceof Error ? error.message : String(error)
    const statements = [
      ...(asked.settings.slot === null ? [`select pg_drop_replication_slot('${own}')`] : []),
      `drop publication if exists ${own}`,
    ]
    return {
      ok: false,
      error: `Postroad could not remove what it created in the source database. Run this there: ${statements.join('; ')}. Until then, the slot retains WAL. ${said}`,
    }
  }
}

async function drop(deps: Deps, source: ClaimedSlot): Promise<void> {
  const dropped = await dropSourceReplication(deps, askedOf(deps, source))
  if (dropped.ok) await forgetSlot(deps.database, placeOf(source))
  else deps.retryLog.warn('source.slot_not_dropped', { source: encodeId('source', source.id), cause: dropped.error })
}

async function look(deps: Deps, source: ClaimedSlot): Promise<void> {
  const plan = replicationPlan(askedOf(deps, source))
  const found = await lookAtSlot({ reach: deps.reach, plan, signal: AbortSignal.timeout(CALL_MS_MAX) })
  const now = deps.clock.now()
  const seen = {
    name: plan.slot,
    wal_status: found?.wal_status ?? null,
    lag_bytes: found?.lag_bytes ?? null,
    retained_bytes: found?.retained_bytes ?? null,
    checked_at: new Date(now).toISOString(),
  }
  const slot: StoredSlot = { ...seen, warned: retainsTooMuch(seen) }
  // oxlint-disable-next-line house/verb-guards -- a change that is a warning writes its audit row
  await inTransaction(asSystem(deps, { ...placeOf(source), requestId: 'sources' }), async (tx) => {
    await storeSlot(tx.db, { ...placeOf(source), slot, dueAt: new Date(now + LOOK_MS) })
    const warning = warningOf(source, { slot, now })
    if (slot.warned && source.slot?.warned !== true && warning !== undefined)
      await notifyRetains(tx, { id: source.id, name: source.name, warning })
  })
}

const askedOf = (deps: Deps, source: ClaimedSlot): DropAsked => ({
  id: source.id,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only sources of this kind have a slot
  settings: source.settings as ReplicationSettings,
  secret: openSourceSecret(deps, source),
})

const placeOf = ({ workspace_id, project_id, id }: ClaimedSlot) => ({
  workspaceId: workspace_id,
  projectId: project_id,
  id,
})
