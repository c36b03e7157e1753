import { DEFAULT_SCHEDULE_SECONDS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import { fairPart, NO_OTHERS, type Others } from '../../domain/delivery/fair-share.ts'
import { aged } from '../../domain/delivery/lane-memory.ts'
import { DbError, type Db } from '../../platform/db.ts'
import {
  cancelOutstanding,
  findForgotten,
  MOVED_ROWS_MAX,
  pauseOutstanding,
  resumePaused,
} from '../../resources/delivery/deliveries/queries.ts'
import {
  freeDoubtful,
  freeLanes,
  grantLanes,
  ownedElsewhere,
  lockCandidates,
  recoverLanes,
  type CandidateRow,
  type GrantRow,
} from './lanes/queries.ts'
import { readLanes, type LaneReadRow, type ReadKind } from './lanes/due/queries.ts'
import { findOrphans, type LaneAt, type OrphanRow } from '../../resources/delivery/lanes/queries.ts'
import { countLanes, endOwner, extendOwner, renewOwner, type OthersRow } from './lanes/owners/queries.ts'
import { heldAt, laneAt, laneKey, noteRow, rowAt, settingsOf } from './postgres-rows.ts'
import { runTurn } from './postgres-turn.ts'
import { NO_SHARE } from './ports.ts'
import type { Answer, LaneRead, LaneReadInput, Leased, LeaseInput, ReadAnswer, ReadInput, StorePort } from './ports.ts'

/** The delivery machine's store on PostgreSQL. It answers like the model in sim/store.ts, and a test compares the two. */
export function createPostgresStore(deps: Deps): StorePort {
  const now = (): Date => new Date(deps.clock.now())
  const after = (ms: number): Date => new Date(deps.clock.now() + ms)
  const answer = <T>(operation: keyof StorePort, work: () => Promise<T>): Promise<Answer<T>> =>
    answered(deps, operation, work)
  return {
    lease: (input) => answer('lease', () => lease(deps, input)),
    renew: (input) =>
      answer('renew', async () => {
        const at = { owner: input.owner, lanes: input.held, now: now(), leaseUntil: after(input.lease_ms) }
        const row = await renewOwner(deps.database, at)
        return { alive: row !== undefined, others: row === undefined ? NO_OTHERS : othersOf(row) }
      }),
    release: ({ owner, lanes }) =>
      answer('release', async () => {
        if (lanes === 'all') await endOwner(deps.database, { owner, now: now() })
        else {
          const notes = lanes.flatMap(({ note, ...held }) =>
            note === undefined ? [] : [noteRow({ ...held, ...note }, now())],
          )
          await freeLanes(deps.database, { owner, lanes: lanes.map(heldAt), notes, now: now() })
        }
        return null
      }),
    read: (input) => answer('read', () => read(deps, input)),
    turn: (input) => answer('turn', () => runTurn(deps, input)),
  }
}

/**
 * If the server refused the statement, nothing is committed. If the connection broke, it may be committed. The machine
 * tries again. A bug is rethrown.
 */
// oxlint-disable-next-line max-params -- dependencies, the name of the operation, and the work
async function answered<T>(deps: Deps, operation: keyof StorePort, work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { outcome: 'done', value: await work() }
  } catch (error) {
    if (!(error instanceof DbError)) throw error
    deps.retryLog.warn(`delivery.${operation}_failed`, { outcome: error.outcome, cause: error })
    return { outcome: error.outcome }
  }
}

function lease(deps: Deps, input: LeaseInput): Promise<Leased> {
  const nothing = { grants: [], elsewhere: [], more: false, others: NO_OTHERS, left: false }
  return deps.database.transaction(async (db) => {
    const now = new Date(deps.clock.now())
    const { owner, serial, share = NO_SHARE } = input
    const leaseUntil = new Date(now.getTime() + input.lease_ms)
    const life = await extendOwner(db, { owner, serial, lanes: share.held, sweeps: input.any_due, now, leaseUntil })
    if (life === 'dead' || life === 'old') return { alive: life === 'old', ...nothing }
    const others = othersOf(life)
    if (input.doubtful_from !== null) await freeDoubtful(db, { owner, from: input.doubtful_from })
    const forgotten = input.any_due ? await moveForgotten(db, now) : DONE
    const wanted = input.wanted.map(laneAt)
    const found = await lockCandidates(db, {
      wanted: input.any_due ? 'any' : wanted,
      avoid: share.avoid.map(laneAt),
      now,
      limit: input.lanes_max + 1,
    })
    const chosen = found.slice(0, input.lanes_max)
    const closed = chosen.filter((lane) => lane.status !== 'open')
    const cutOff = closed.filter((lane) => lane.leftover).map(rowAt)
    const freed = cutOff.length === 0 ? [] : await grantLanes(db, { lanes: cutOff, owner: null, serial, now })
    const open = chosen.filter((lane) => lane.status === 'open').map(rowAt)
    const { granted, leftToOthers } = await take(db, { open, input, others, isLast: life.all_left, now })
    const orphans = await recover(db, { found: chosen, taken: [...granted, ...freed], now })
    const cleared = await clearClosed(db, closed, now)
    const elsewhere = wanted.length === 0 ? [] : await ownedElsewhere(db, { lanes: wanted, owner, now })
    return {
      alive: true,
      grants: granted.map((row) => ({
        lane: laneKey(rowAt(row)),
        fence: row.fence,
        workspace: row.workspace_id,
        settings: settingsOf(row, deps.plans),
        memory: memoryOf(row, now),
        orphans_end_in_ms: endsOf(row, orphans, now),
      })),
      elsewhere: elsewhere.map(laneKey),
      more: (found.length > input.lanes_max && !leftToOthers) || forgotten.more || cleared.more,
      others,
      left: leftToOthers,
    }
  })
}

type Taking = {
  readonly open: readonly LaneAt[]
  readonly input: LeaseInput
  readonly others: Others
  /** All other owners have swept, and each of them left some lanes. */
  readonly isLast: boolean
  readonly now: Date
}

/**
 * Grants the free lanes; a sweep that shares takes only its fair part of them. Other owners that look for lanes in the next
 * moment see the new count.
 */
async function take(
  db: Db,
  { open, input, others, isLast, now }: Taking,
): Promise<{ readonly granted: readonly GrantRow[]; readonly leftToOthers: boolean }> {
  const { owner, serial, any_due, share = NO_SHARE } = input
  const fairly = share.fairly && any_due && !isLast
  const lanes = fairly ? open.slice(0, fairPart({ held: share.held, free: open.length, others })) : open
  const granted = lanes.length === 0 ? [] : await grantLanes(db, { lanes, owner, serial, now })
  const leftToOthers = lanes.length < open.length
  if (others.owners > 0 && open.length > 0)
    await countLanes(db, { owner, lanes: share.held + granted.length, left: leftToOthers })
  return { granted, leftToOthers }
}

type Taken = { readonly found: readonly CandidateRow[]; readonly taken: readonly GrantRow[]; readonly now: Date }

/**
 * Ends the attempts that previous owners left `sending` in the granted lanes. Returns the requests that may still be under way
 * there.
 */
async function recover(db: Db, { found, taken, now }: Taken): Promise<readonly OrphanRow[]> {
  const unended = new Set(found.filter((lane) => lane.unended).map((lane) => laneKey(rowAt(lane))))
  const lanes = taken.map((row) => ({ ...rowAt(row), unended: unended.has(laneKey(rowAt(row))) }))
  const left = lanes.length === 0 ? 0 : await recoverLanes(db, { lanes, now })
  const doubted = found.filter((lane) => lane.orphaned || (lane.unended && (lane.leftover || left > 0))).map(rowAt)
  return doubted.length === 0 ? [] : findOrphans(db, { lanes: doubted, now })
}

const othersOf = (row: OthersRow): Others => ({ owners: row.others, lanes: row.others_lanes })

const memoryOf = ({ memory, remembered_at }: GrantRow, now: Date) =>
  memory === null || remembered_at === null ? null : aged(memory, now.getTime() - remembered_at.getTime())

// oxlint-disable-next-line max-params -- the lane, the orphans, and the time
function endsOf(lane: GrantRow, orphans: readonly OrphanRow[], now: Date): readonly number[] {
  const own = orphans.filter(
    (row) => row.destination_id === lane.destination_id && row.workspace_id === lane.workspace_id,
  )
  return own.map((row) => row.ends_by.getTime() - now.getTime())
}

const DONE = { more: false }
const FORGOTTEN_LANES_MAX = 100

/**
 * Two concurrent commits do not see each other, so they may leave deliveries paused although their destination is on again: an
 * event that was routed just before, or an attempt that ended just then. Every sweep resumes them.
 */
async function moveForgotten(db: Db, now: Date): Promise<{ readonly more: boolean }> {
  const lanes = await findForgotten(db, FORGOTTEN_LANES_MAX)
  return moveEach(lanes, (lane) =>
    lane.gone ? cancelOutstanding(db, { ...lane, now }) : resumePaused(db, { ...lane, now }),
  )
}

/** The opposite case: deliveries that wait in a lane that is off by now are paused, or canceled when the destination is gone. */
function clearClosed(db: Db, lanes: readonly CandidateRow[], now: Date): Promise<{ readonly more: boolean }> {
  return moveEach(lanes, ({ status, ...row }) => {
    const at = { ...rowAt(row), now }
    if (status === 'open') return Promise.resolve(0)
    return status === 'gone' ? cancelOutstanding(db, at) : pauseOutstanding(db, { ...at, reason: status })
  })
}

/** `more`: some lane has more rows than one statement may move. */
async function moveEach<Lane>(
  lanes: readonly Lane[],
  move: (lane: Lane) => Promise<number>,
): Promise<{ readonly more: boolean }> {
  let more = false
  for (const lane of lanes) {
    // oxlint-disable-next-line no-await-in-loop -- rare, and one transaction has one connection
    const moved = await move(lane)
    more ||= moved >= MOVED_ROWS_MAX
  }
  return { more }
}

/** One statement for each kind of read. Most calls need only one. */
async function read(deps: Deps, { reads }: ReadInput): Promise<ReadAnswer> {
  const byKind = Map.groupBy(reads, kindOf)
  const lanes = await Promise.all([...byKind].map(([kind, some]) => readSome(deps, { reads: some, kind })))
  return { lanes: lanes.flat() }
}

const kindOf = ({ ordered, recent }: LaneReadInput): ReadKind =>
  ordered === true ? 'heads' : recent === true ? 'recent' : 'all'

async function readSome(
  deps: Deps,
  { reads, kind }: ReadInput & { readonly kind: ReadKind },
): Promise<readonly LaneRead[]> {
  const rows = await readLanes(deps.database, {
    lanes: reads.map((asked) => ({ ...heldAt(asked), limit: asked.limit })),
    exclude: reads.flatMap((asked) => asked.exclude),
    kind,
    now: new Date(deps.clock.now()),
  })
  const byOrdinal = new Map(rows.map((row) => [row.ordinal, row]))
  return reads.map(({ lane, fence }, index) => ({ lane, fence, ...readOf(deps, byOrdinal.get(index + 1)) }))
}

/** A lane whose destination is gone has no settings. The machine does not read those of a lost lane. */
function readOf({ plans }: Deps, row: LaneReadRow | undefined): Omit<LaneRead, 'lane' | 'fence'> {
  if (row === undefined || row.status === 'lost')
    return { status: 'lost', settings: NO_SETTINGS, due: [], next_due_in_ms: null }
  const { status, due, next_due_in_ms } = row
  return { status, settings: settingsOf(row, plans), due, next_due_in_ms }
}

const NO_SETTINGS = {
  max_in_flight: 1,
  schedule_seconds: DEFAULT_SCHEDULE_SECONDS,
  timeout_ms: 1_000,
  rate_limit: null,
  breaker_resets: 0,
  probes_asked: 0,
  ordered: false,
}
