import type { Rejection } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { firstDayKept, limitsOf } from '../../../domain/workspace/plan.ts'
import { Horizon, NOTHING, readSnapshot, seesNothing, type Snapshot } from '../../../domain/serving/snapshot.ts'
import type { Position } from '../../../domain/serving/stream-cursor.ts'
import { presentDelivery, type DeliveryRow } from '../../delivery/deliveries/index.ts'
import { keptFrom } from '../../workspace/erasure/index.ts'
import { presentRejection } from '../../capture/rejections/index.ts'
import {
  beginGeneration,
  confirmPlaces,
  findKept,
  leavePlace,
  lockConnections,
  readChangedDeliveries,
  readCountedRejections,
  readMoment,
  readPage,
  takePlace,
  type StreamRow,
  type StreamScope,
} from './queries.ts'

export type { StreamRow, StreamScope }

/**
 * From the making of an id to the begin of its transaction: 5 s in the queue of the group commit, 15 s until the database
 * is given up, 6 s of asking whether it was stored after all.
 */
const MARGIN_MS = 26_000
/** Who waited longer for a commit was told 503, so it is no promise. */
const PATIENCE_MS = 60_000
/** An attempt ends within its timeout of a minute, and is written soon after. */
const ATTEMPT_MS = 90_000
/** The minute of a refusal, the time its request took to arrive, and some to write it. */
const COUNTED_MS = 180_000
const ROWS_MAX = 500
const BYTES_MAX = 262_144
const LIVE_READS_AT_ONCE = 2

/** One read: what `to` sees beyond `from`, by id, as far as a page goes. */
export type Page = {
  readonly history: string
  readonly from: Snapshot
  readonly floor: number
  readonly to: Snapshot
  readonly toFloor: number
  readonly rows: readonly StreamRow[]
  /** Whether the same read goes on behind the last row. */
  readonly more: boolean
}

export type Changes = {
  readonly deliveries: readonly PublicDelivery[]
  readonly position: Position
  readonly more: boolean
}
/** Rows of the rejection log that were counted in, and where to look on from. */
export type Refusals = { readonly rejections: readonly Rejection[]; readonly position: Position }
type PublicDelivery = ReturnType<typeof presentDelivery>

export type StreamReader = {
  /** The position of who has everything up to now. */
  now(): Promise<Position>
  /** The next page behind a position, of these datasets or of all. `live` reads do not wait for those that catch up. */
  read(at: {
    scope: StreamScope
    position: Position
    datasets?: readonly string[] | undefined
    live?: true
  }): Promise<Page>
  /** Deliveries that were made or tried behind a position of a moment ago, as they stand now. */
  changes(at: { scope: StreamScope; position: Position }): Promise<Changes>
  /** Rows of the rejection log that were counted in since a position of a moment ago: at most 500, the newest. */
  refusals(at: { scope: StreamScope; position: Position }): Promise<Refusals>
  /** The moment before which records are no longer kept; undefined while nothing was dropped. */
  keptSince(workspaceId: string): Promise<number | undefined>
}

/** The position of who has everything from a moment on (milliseconds). */
export function since(ms: number): Position {
  return { history: '0-0', from: NOTHING, floor: Math.max(0, Math.floor(ms)) }
}

/** Where a reader stands after a page: `row` undefined, after the whole of it. */
export function positionAfter(page: Page, row: StreamRow | undefined): Position {
  const { history, from, floor, to, toFloor } = page
  return row === undefined
    ? { history, from: to, floor: toFloor }
    : { history, from, floor, partway: { to, floor: toFloor, after: row.id } }
}

/** Reads streams of records without loss or repetition (docs/adr/0008); at most two statements at once in a process, and one for those who catch up. */
export function createStreamReader(deps: Deps): StreamReader {
  const horizon = new Horizon(PATIENCE_MS)
  const inTurn = createTurns(1)
  const inLiveTurn = createTurns(LIVE_READS_AT_ONCE)
  const floorOf = (snapshot: Snapshot, at: number): number =>
    Math.max(0, Math.floor(horizon.behind(snapshot, at) - MARGIN_MS))

  const read: StreamReader['read'] = async (asked) => {
    const { scope, position, datasets, live } = asked
    const { partway } = position
    const now = deps.clock.now()
    const found = await (live === true ? inLiveTurn : inTurn)(() =>
      readPage(deps.database.forWorkspace(scope.workspaceId), {
        ...scope,
        from: position.from,
        // A clock that was set back makes ids of before.
        floor: seesNothing(position.from) ? position.floor : Math.min(position.floor, now - MARGIN_MS),
        to: partway?.to,
        after: partway?.after,
        datasets,
        rowsMax: ROWS_MAX,
        bytesMax: BYTES_MAX,
      }),
    )
    if (isUnsaid(found)) return afresh(deps, () => read(asked))
    // Another database, or this one after a crash: its transactions have other numbers. By time nothing is lost, and some comes again.
    if (found.history !== position.history && (partway !== undefined || !seesNothing(position.from))) {
      return read({ ...asked, position: { history: found.history, from: NOTHING, floor: position.floor } })
    }
    const seen = snapshotOf(found.snapshot)
    const { from, floor } = position
    const to = partway?.to ?? seen
    return {
      history: found.history,
      from,
      floor,
      to,
      toFloor: partway?.floor ?? floorOf(seen, now),
      rows: found.rows,
      more: found.more,
    }
  }

  const changes: StreamReader['changes'] = async ({ scope, position }) => {
    const { partway } = position
    const now = deps.clock.now()
    const asked = { ...scope, from: position.from, to: partway?.to, after: partway?.after, rowsMax: ROWS_MAX }
    const found = await inLiveTurn(() =>
      readChangedDeliveries(deps.database.forWorkspace(scope.workspaceId), {
        ...asked,
        madeFrom: now - MARGIN_MS,
        begunFrom: now - ATTEMPT_MS,
      }),
    )
    if (isUnsaid(found)) return afresh(deps, () => changes({ scope, position }))
    const seen = snapshotOf(found.snapshot)
    const to = partway?.to ?? seen
    // After a crash transactions have other numbers: begin anew.
    const after = found.history === position.history && found.more ? found.rows.at(-1)?.id : undefined
    const { history } = found
    const next =
      after === undefined ? { history, from: to, floor: now } : { ...position, partway: { to, floor: now, after } }
    return { deliveries: found.rows.map(presentChanged), position: next, more: after !== undefined }
  }

  const refusals: StreamReader['refusals'] = async (asked) =>
    (await inLiveTurn(() => readRefusals(deps, asked))) ?? afresh(deps, () => refusals(asked))

  const now: StreamReader['now'] = async () => {
    const at = deps.clock.now()
    const found = await inLiveTurn(() => readMoment(deps.database))
    if (isUnsaid(found)) return afresh(deps, now)
    const from = snapshotOf(found.snapshot)
    return { history: found.history, from, floor: floorOf(from, at) }
  }

  return {
    read,
    changes,
    refusals,
    now,
    keptSince: (workspaceId) => inTurn(() => keptSince(deps, workspaceId)),
  }
}

/** Days of everybody are dropped as a whole, and a shorter plan keeps fewer of them. */
async function keptSince({ database, plans, clock }: Deps, workspaceId: string): Promise<number | undefined> {
  const db = database.forWorkspace(workspaceId)
  const found = await findKept(db, workspaceId)
  if (found === undefined) return undefined
  const byPlan = await keptFrom(db, { workspaceId, before: firstDayKept(limitsOf(plans, found.plan), clock.now()) })
  const from = Math.max(found.day?.getTime() ?? 0, byPlan)
  return found.created_at.getTime() < from ? from : undefined
}

async function afresh<T>({ database }: Deps, again: () => Promise<T>): Promise<T> {
  await beginGeneration(database)
  return again()
}

/** undefined while it is not said since which crash the database is. */
async function readRefusals(
  { database, clock }: Deps,
  { scope, position }: Parameters<StreamReader['refusals']>[0],
): Promise<Refusals | undefined> {
  const now = clock.now()
  const found = await readCountedRejections(database.forWorkspace(scope.workspaceId), {
    ...scope,
    from: position.from,
    countedFrom: now - COUNTED_MS,
    rowsMax: ROWS_MAX,
  })
  if (isUnsaid(found)) return undefined
  // After a crash transactions have other numbers: begin anew.
  const rows = found.history === position.history ? found.rows : []
  return {
    rejections: rows.map(presentRejection),
    position: { history: found.history, from: snapshotOf(found.snapshot), floor: now },
  }
}

/** The columns of the reading itself are none of the delivery's. */
function presentChanged({
  id,
  record_id,
  dataset,
  destination_id,
  state,
  pause_reason,
  attempt_count,
  next_attempt_at,
  last_status,
  last_error,
  created_at,
  updated_at,
}: DeliveryRow): PublicDelivery {
  return presentDelivery({
    id,
    record_id,
    dataset,
    destination_id,
    state,
    pause_reason,
    attempt_count,
    next_attempt_at,
    last_status,
    last_error,
    created_at,
    updated_at,
  })
}

const isUnsaid = ({ history }: { readonly history: string }): boolean => history.endsWith('-0')

function snapshotOf(text: string): Snapshot {
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) throw new Error(`PostgreSQL gave a snapshot that is none: ${text.slice(0, 200)}`)
  return snapshot
}

/** Lets `count` run at a time, in order: however many clients catch up, ingest finds the database free. */
function createTurns(count: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = count
  return async (work) => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) free += 1
      else next()
    }
  }
}

export type Place = { readonly workspaceId: string; readonly id: string }

/** A process confirms its places this often, and one that was silent for three times as long holds none any more. */
export const CONFIRM_MS = 5_000

/** Takes one of the plan's places for a connection; false when all are taken, on whichever process. */
export function takeStreamPlace(deps: Deps, at: Place & { max: number }): Promise<boolean> {
  // oxlint-disable-next-line house/verb-guards -- a connection that opens changes nothing of the workspace
  return deps.database.forWorkspace(at.workspaceId).transaction(async (db) => {
    const now = deps.clock.now()
    await lockConnections(db, at.workspaceId)
    return takePlace(db, { ...at, now: new Date(now), staleBefore: new Date(now - 3 * CONFIRM_MS) })
  })
}

export function confirmStreamPlaces(deps: Deps, places: readonly Place[]): Promise<void> {
  return confirmPlaces(deps.database, { places, now: new Date(deps.clock.now()) })
}

export function leaveStreamPlace(deps: Deps, place: Place): Promise<void> {
  return leavePlace(deps.database.forWorkspace(place.workspaceId), place)
}
