import assert from 'node:assert/strict'
import { probeLane } from '../../sim/probe.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { deliveries } from '../../src/resources/delivery/deliveries/index.ts'
import { cancelOutstanding, pauseOutstanding, resumePaused } from '../../src/resources/delivery/deliveries/queries.ts'
import { lockWaiting, release } from '../../src/resources/delivery/deliveries/release/queries.ts'
import { destinations } from '../../src/resources/delivery/destinations/index.ts'
import { makeDue } from '../../src/resources/delivery/replays/queries.ts'
import type { Pair } from './store-pair.ts'
import type { LaneAt } from './store-rows.ts'
import type { Step } from './store-step.ts'

/** The replay that sends every delivery again; nobody counts its results here. */
const REPLAY_ID = '01a00000-0000-7000-8000-000000000001'

// Acts of the rest of the product: events arrive, plans change, people act

/** Sometimes the commit starts the first attempts, under the current fence or an older one. */
export async function ingest(pair: Pair, at: LaneAt, step: Step): Promise<void> {
  // Ingest answers 403 while the workspace is suspended.
  if (pair.model.suspended.has(at.workspaceId)) return
  const count = 1 + (step.n % 3)
  const orderKeys = orderKeysFor(pair, at, count)
  const { enabled, fence, settings } = pair.model.lane(at.lane)
  const starts = step.m % 3 === 0 && !settings.ordered ? fence - (step.n % 4 === 0 ? 1 : 0) : null
  const pauseReason = enabled ? null : 'destination_disabled'
  const items = await pair.rows.ingest(at, { count, pauseReason, orderKeys, starts })
  const begins = starts === null ? [] : items.map(({ lane, delivery_id }) => ({ lane, delivery_id, fence: starts }))
  const begun = pair.model.ingest(pair.now, {
    items: items.map((item, index) => ({ ...item, order_key: orderKeys[index] ?? null })),
    begins,
  })
  if (begun.length > 0) pair.seen.add('begun on arrival')
  if (begun.length < begins.length) pair.seen.add('not begun on arrival')
  // oxlint-disable-next-line no-await-in-loop -- a few rows
  for (const { delivery_id, attempt_id } of begun)
    pair.sqlAttempt.set(attempt_id, await pair.rows.attemptOf(delivery_id))
}

/** Ingests deliveries for which the allowance of the workspace has no room. */
export async function ingestBeyond(pair: Pair, at: LaneAt, count: number): Promise<void> {
  if (pair.model.suspended.has(at.workspaceId)) return
  pair.model.allow(pair.now, at.workspaceId, { max: 0, turned: true })
  const orderKeys = orderKeysFor(pair, at, count)
  const items = await pair.rows.ingest(at, { count, pauseReason: 'allowance_used', orderKeys })
  pair.model.ingest(pair.now, {
    items: items.map((item, index) => ({ ...item, order_key: orderKeys[index] ?? null })),
  })
  pair.model.allow(pair.now, at.workspaceId, { max: null, turned: true })
}

/** Releases deliveries when the allowance has room for this many. */
export async function letGo(pair: Pair, { workspaceId }: LaneAt, count: number): Promise<void> {
  if (pair.model.suspended.has(workspaceId)) return
  const waiting = await pair.rows.deps.database.transaction(async (db) => {
    const rows = await lockWaiting(db, { workspaceId, limit: count })
    if (rows.length > 0) await release(db, { workspaceId, rows, now: pair.rows.now })
    return rows
  })
  pair.model.allow(pair.now, workspaceId, { max: count, turned: true })
  const released = pair.model.letGo(pair.now, workspaceId)
  pair.model.allow(pair.now, workspaceId, { max: null, turned: true })
  assert.equal(waiting.length, released.length)
}

function orderKeysFor(pair: Pair, { lane }: LaneAt, count: number): readonly string[] {
  return pair.model.lane(lane).settings.ordered ? ORDER_KEYS.slice(0, count) : []
}

/** The second delivery of a commit has the key of the first. */
const ORDER_KEYS = [
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000a',
  'ffffffff-ffff-4fff-bfff-ffffffffffff',
] as const

export async function toggle(pair: Pair, at: LaneAt): Promise<void> {
  const enabled = !pair.model.lane(at.lane).enabled
  await pair.rows.switchLane(at, enabled)
  if (enabled) pair.model.enable(pair.now, at.lane)
  else pair.model.disable(pair.now, at.lane)
}

/** Now and then the process that moves the deliveries dies midway, and leaves the rest to the sweeps. */
export async function suspend(pair: Pair, step: Step, { workspaceId, ...at }: LaneAt): Promise<void> {
  const lanes = pair.lanes.filter((lane) => lane.workspaceId === workspaceId)
  const suspended = !pair.model.suspended.has(workspaceId)
  await pair.rows.setSuspended({ workspaceId, ...at }, suspended)
  if (suspended) pair.model.suspend(pair.now, workspaceId)
  else pair.model.reinstate(pair.now, workspaceId)
  const { now } = pair.rows
  for (const lane of lanes.slice(step.m % 3 === 0 ? 1 : 0)) {
    if (suspended) await pauseOutstanding(pair.rows.deps.database, { ...lane, reason: 'workspace_suspended', now })
    else await resumePaused(pair.rows.deps.database, { ...lane, now })
    pair.model.moveWaiting(pair.now, lane.lane, { disabled: suspended })
  }
}

/** The actions of a person on one delivery. */
export async function act(pair: Pair, step: Step, verb: 'replay' | 'retry' | 'cancel'): Promise<void> {
  const all = [...pair.model.deliveries.values()]
  const row = all[step.n % Math.max(1, all.length)]
  if (row === undefined) return
  const at = pair.lanes.find((lane) => lane.lane === row.lane)
  assert.ok(at)
  const done = await deliveries[verb](pair.rows.ctx(at), { id: row.delivery_id }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.reason === 'invalid_state') return false
      throw error
    },
  )
  assert.equal(done, pair.model[verb](pair.now, row.delivery_id))
}

/** A person asks for a probe of an open breaker. */
export async function probe(pair: Pair, at: LaneAt): Promise<void> {
  const done = await destinations.probe(pair.rows.ctx(at), { id: at.destinationId }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.reason === 'invalid_state') return false
      throw error
    },
  )
  assert.equal(done, probeLane(pair.model, pair.now, at.lane))
  if (done) pair.seen.add('probed')
}

/** Replays all ended deliveries of a lane, each a second after the one before. */
export async function replayMany(pair: Pair, step: Step, at: LaneAt): Promise<void> {
  const ids = pair.model.lane(at.lane).deliveries.map((row) => row.delivery_id)
  const momentOf = (index: number): number => (step.n % 2) * index * 1_000
  if (ids.length > 0) {
    const slots = ids.map((id, index) => ({ id, at: new Date(pair.now + momentOf(index)) }))
    await makeDue(pair.rows.deps.database, {
      ...at,
      replayId: REPLAY_ID,
      slots,
      states: ['delivered', 'failed', 'cancelled'],
      now: pair.rows.now,
    })
  }
  for (const [index, id] of ids.entries()) pair.model.replay(pair.now, id, { inMs: momentOf(index) })
}

export async function cancel(pair: Pair, at: LaneAt): Promise<void> {
  await cancelOutstanding(pair.rows.deps.database, { ...at, now: pair.rows.now })
  pair.model.cancelAll(pair.now, at.lane)
}
