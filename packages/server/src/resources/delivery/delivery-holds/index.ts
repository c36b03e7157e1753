/** The deliveries that destinations hold back, and why. Every place that shows a delivery uses this room. */
import {
  encodeId,
  heldBy,
  heldUntil,
  isOff,
  LIMITS,
  TROUBLE_CAUSES,
  type HeldBy,
  type HoldCause,
  type RouteOutput,
  type Routes,
} from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { Db } from '../../../platform/db.ts'
import type { Room } from '../../verbs.ts'
import { holdOf } from './hold.ts'
import { countBehind, countHeld, findBehind, listLanes, type HeldCountRow, type LaneRow } from './queries.ts'

const { backlogCountMax, deliveryHoldsCountedMax, deliveryHoldsMax } = LIMITS
const FOREVER = new Date('9999-01-01T00:00:00Z')

export const deliveryHolds: Room<'deliveryHolds'> = {
  list: (ctx) => readHolds(ctx.db, { ...ctx, now: ctx.clock.now() }),
}

type HoldsAt = { readonly workspaceId: string; readonly projectId: string; readonly now: number }

/** The destinations of a project that hold deliveries back now, as the API and the stream show them. */
export async function readHolds(
  db: Db,
  { workspaceId, projectId, now }: HoldsAt,
): Promise<RouteOutput<Routes['deliveryHolds']['list']>> {
  const found = await listHolds(db, { workspaceId, projectIds: [projectId], now })
  const holds = found.slice(0, deliveryHoldsMax).map(({ hold, destinationId, name, count, more }) => {
    const { behind: _behind, ...shown } = hold
    return { ...shown, destination_id: encodeId('destination', destinationId), name, deliveries: count, more }
  })
  return { holds, truncated: found.length > holds.length }
}

export type Hold = {
  readonly destinationId: string
  readonly name: string
  readonly hold: HeldBy
  /** How many deliveries it holds back, as far as they were counted. */
  readonly count: number
  /** There are more than were counted. */
  readonly more: boolean
}
type Asked = {
  readonly workspaceId: string
  readonly projectIds: readonly string[]
  /** Absent: all destinations. */
  readonly destinationIds?: readonly string[]
  readonly now: number
}

/** Each destination that holds deliveries back now, the largest number first. */
export async function listHolds(
  db: Db,
  { workspaceId, projectIds, destinationIds, now }: Asked,
): Promise<readonly Hold[]> {
  const at = new Date(now)
  const rows = await listLanes(db, { workspaceId, projectIds, destinationIds: destinationIds ?? null, now: at })
  const lanes = rows.map((row) => ({ row, hold: holdOf(row, now) }))
  const held = lanes.flatMap(({ row, hold }) => (hold === undefined ? [] : [laneHeld(row, { hold, now })]))
  const ordered = lanes.flatMap(({ row, hold }) => (hold === undefined && row.ordered ? [row.destination_id] : []))
  const [counts, behind] = await Promise.all([
    countShared(
      held,
      ({ destinationId }) => destinationId,
      (some, max) => countHeld(db, { workspaceId, lanes: some, max }),
    ),
    countShared(
      ordered,
      (id) => id,
      (some, max) => countBehind(db, { workspaceId, destinationIds: some, now: at, max }),
    ),
  ])
  const countOf = new Map([...counts, ...behind].map((row) => [row.destination_id, row]))
  return lanes
    .flatMap(({ row, hold }) => counted({ row, hold, count: countOf.get(row.destination_id) }))
    .toSorted((a, b) => b.count - a.count)
}

type Counted = HeldCountRow & { readonly more: boolean }

/**
 * Divides the limit of one call among these lanes. Lanes with few deliveries leave their share to the others, so a lane
 * with nearly all of them gets a high count.
 */
// oxlint-disable-next-line max-params -- the lanes, their ids, and the count
async function countShared<Lane>(
  lanes: readonly Lane[],
  idOf: (lane: Lane) => string,
  count: (lanes: readonly Lane[], max: number) => Promise<readonly HeldCountRow[]>,
): Promise<readonly Counted[]> {
  if (lanes.length === 0) return []
  // One row beyond the limit shows that there are more.
  const countTo = async (some: readonly Lane[], max: number): Promise<readonly Counted[]> =>
    (await count(some, max + 1)).map((row) => ({ ...row, count: Math.min(row.count, max), more: row.looked > max }))
  const max = shareOf(lanes.length)
  const rows = await countTo(lanes, max)
  const full = new Set(rows.filter(({ more }) => more).map((row) => row.destination_id))
  const further = shareOf(full.size)
  if (full.size === 0 || further <= max) return rows
  const again = await countTo(
    lanes.filter((lane) => full.has(idOf(lane))),
    further,
  )
  return [...rows.filter((row) => !full.has(row.destination_id)), ...again]
}

const shareOf = (lanes: number): number => Math.min(backlogCountMax, Math.ceil(deliveryHoldsCountedMax / lanes))

type Counting = {
  readonly row: LaneRow
  readonly hold: HeldBy | undefined
  readonly count: Counted | undefined
}

function counted({ row, hold = IN_ORDER, count }: Counting): readonly Hold[] {
  if (count === undefined || count.count === 0) return []
  const since = hold.since ?? count.oldest_due_at?.toISOString() ?? null
  return [
    {
      destinationId: row.destination_id,
      name: row.name,
      hold: { ...hold, since },
      count: count.count,
      more: count.more,
    },
  ]
}

const IN_ORDER: HeldBy = {
  cause: 'order',
  last_error: null,
  last_status: null,
  since: null,
  next_probe_at: null,
  behind: null,
}

const laneHeld = (row: LaneRow, { hold, now }: { readonly hold: HeldBy; readonly now: number }) => ({
  destinationId: row.destination_id,
  until: isOff(hold) ? FOREVER : new Date(heldUntil(hold, now)),
  off: isOff(hold),
})

/** The conditions of a filter for deliveries that are held back. */
export type HeldFilter = {
  /** In these lanes, deliveries that are due by `until`. */
  readonly lanes: readonly { readonly destinationId: string; readonly until: Date }[]
  /** In these lanes, deliveries that are paused because the destination is off. */
  readonly off: readonly string[]
  /** In these lanes, deliveries that are due now and have an earlier one with their key. */
  readonly ordered: readonly string[]
  readonly now: Date
}

/** `stuck` selects lanes in trouble: the breaker is not closed, or Postroad has turned the destination off. */
export async function heldFilter(ctx: Ctx, cause: HoldCause | 'any' | 'stuck'): Promise<HeldFilter> {
  const now = ctx.clock.now()
  const at = { workspaceId: ctx.workspaceId, projectIds: [ctx.projectId], destinationIds: null, now: new Date(now) }
  const lanes = (await listLanes(ctx.db, at)).map((row) => ({ row, hold: holdOf(row, now) }))
  const wanted = lanes.flatMap(({ row, hold }) =>
    hold !== undefined && isWanted(cause, hold) ? [laneHeld(row, { hold, now })] : [],
  )
  return {
    lanes: wanted,
    off: wanted.filter(({ off }) => off).map(({ destinationId }) => destinationId),
    ordered:
      cause === 'any' || cause === 'order'
        ? lanes.flatMap(({ row, hold }) => (hold === undefined && row.ordered ? [row.destination_id] : []))
        : [],
    now: at.now,
  }
}

/** The most deliveries that a list reads from all lanes in which few wait. */
const FEW_IN_ALL = 5_000

/** The lanes in which more deliveries wait than a list reads in one statement. */
export async function crowdedLanes(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  { lanes, ordered, now }: Pick<HeldFilter, 'lanes' | 'ordered' | 'now'>,
): Promise<ReadonlySet<string>> {
  const all = [...lanes, ...ordered.map((destinationId) => ({ destinationId, until: now }))]
  if (all.length === 0) return new Set()
  const max = Math.ceil(FEW_IN_ALL / all.length)
  const asked = all.map((lane) => ({ ...lane, off: false }))
  const rows = await countHeld(ctx.db, { workspaceId: ctx.workspaceId, lanes: asked, max: max + 1 })
  return new Set(rows.filter(({ count }) => count > max).map((row) => row.destination_id))
}

function isWanted(wanted: HoldCause | 'any' | 'stuck', { cause }: HeldBy): boolean {
  return wanted === 'stuck' ? TROUBLE_CAUSES.has(cause) : wanted === 'any' || wanted === cause
}

type Waiting = {
  readonly id: string
  readonly destination_id: string
  readonly state: string
  readonly pause_reason: string | null
  readonly next_attempt_at: Date | null
}

/** For each of these deliveries, the reason why it is held back. Runs no query when none of them waits. */
export async function heldOf<Row extends Waiting>(
  ctx: Pick<Ctx, 'db' | 'workspaceId' | 'projectId' | 'clock'>,
  rows: readonly Row[],
): Promise<(row: Row) => HeldBy | null> {
  const waiting = rows.filter((row) => row.next_attempt_at !== null || row.pause_reason === 'destination_disabled')
  if (waiting.length === 0) return () => null
  const now = ctx.clock.now()
  const { workspaceId, projectId } = ctx
  const destinationIds = [...new Set(waiting.map((row) => row.destination_id))]
  const lanes = await listLanes(ctx.db, { workspaceId, projectIds: [projectId], destinationIds, now: new Date(now) })
  const holds = new Map(lanes.map((row) => [row.destination_id, holdOf(row, now)]))
  const byLane = (row: Row): HeldBy | null => {
    const hold = holds.get(row.destination_id)
    // Its destination is on again: a sweep releases the delivery in a moment. Neither filters nor counts include it.
    if (row.pause_reason === 'destination_disabled' && (hold === undefined || !isOff(hold))) return null
    return heldBy({ ...row, next_attempt_at: row.next_attempt_at?.toISOString() ?? null }, { hold, now })
  }
  const ordered = new Set(lanes.filter((lane) => lane.ordered).map((lane) => lane.destination_id))
  const ids = waiting.filter((row) => ordered.has(row.destination_id) && byLane(row) === null).map((row) => row.id)
  const found = ids.length === 0 ? [] : await findBehind(ctx.db, { workspaceId, projectId, ids })
  const behind = new Map(found.map((one) => [one.id, one.behind]))
  return (row) => byLane(row) ?? inOrder(row, { behind: behind.get(row.id), now })
}

function inOrder(
  { next_attempt_at }: Waiting,
  { behind, now }: { readonly behind: string | undefined; readonly now: number },
): HeldBy | null {
  if (behind === undefined || next_attempt_at === null || next_attempt_at.getTime() > now) return null
  return { ...IN_ORDER, since: next_attempt_at.toISOString(), behind: encodeId('delivery', behind) }
}
