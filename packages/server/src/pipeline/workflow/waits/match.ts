import type { Deps } from '../../../context.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { compileConditions } from '../../../domain/routing/condition.ts'
import { compilePath, readPath } from '../../../domain/routing/dot-path.ts'
import { Horizon, NOTHING, readSnapshot, sees, seesNothing, type Snapshot } from '../../../domain/serving/snapshot.ts'
import { PacedWork } from '../../../platform/paced-work.ts'
import type { Db } from '../../../platform/db.ts'
import { beginGeneration, readMoment } from '../../../resources/serving/stream/queries.ts'
import { finish } from '../../../domain/in-turns.ts'
import type { InstanceKey } from '../instance.ts'
import type { Matched } from '../ports.ts'
import { waitKey } from '../wait-key.ts'
import {
  findWaits,
  listWaitPaths,
  lockMatcher,
  moveMatcher,
  readNewRecords,
  wakeWaits,
  type CandidateRow,
  type MatcherRow,
  type NewRecord,
  type Probe,
  type WaitPath,
} from './queries.ts'

/** As for a stream: the longest times from an id to the start of its transaction, and from there to its end. */
const MARGIN_MS = 26_000
const PATIENCE_MS = 60_000
const ROWS_MAX = 500
/** While nothing waits, the position is written only this often. */
const IDLE_MS = 10_000

/** The end of a page of a long read. */
type Partway = {
  readonly from: string
  readonly to: Snapshot
  readonly toFloor: number
  /** The time when `to` was taken. */
  readonly at: number
  readonly id: string
}

const NO_WAITS: Matched = { woken: 0, more: false, waits: false }

/**
 * Compares records with waits as they become visible: it reads the rows between two snapshots, as a stream does. The snapshot
 * is taken before the waits are looked up, so a wait that this run does not see started after it, and the next run reads its
 * records. The position moves with the last page of a read, so a crash repeats pages, and never skips one.
 */
export function createMatcher(deps: Deps): () => Promise<Matched> {
  const horizon = new Horizon(PATIENCE_MS)
  const floorOf = (snapshot: Snapshot, at: number): number =>
    Math.max(0, Math.floor(horizon.behind(snapshot, at) - MARGIN_MS))
  let partway: Partway | undefined

  return () =>
    deps.database.transaction(async (db) => {
      const position = await lockMatcher(db)
      if (position === undefined) return { ...NO_WAITS, waits: true }
      // Another process has finished the read, or has read further.
      const after = partway?.from === position.snapshot ? partway : undefined
      partway = undefined
      const now = deps.clock.now()
      const { snapshot, history } = await readMoment(db)
      if (history.endsWith('-0')) {
        await beginGeneration(db)
        return { woken: 0, more: true, waits: true }
      }
      const seen = snapshotOf(snapshot)
      const { to, toFloor, at } = after ?? { to: seen, toFloor: floorOf(seen, now), at: now }
      const moved = { history, snapshot: textOf(to), floor_ms: toFloor, moved_at: new Date(at) }
      const paths = await listWaitPaths(db)
      if (paths.length === 0) {
        if (isOld(position, now)) await moveMatcher(db, moved)
        return NO_WAITS
      }
      const records = await readNewRecords(db, {
        ...scopeOf(paths),
        ...startOf(position, { history, now }),
        to,
        after: after?.id,
        rowsMax: ROWS_MAX,
      })
      const woken = records.length === 0 ? 0 : await wake(db, { records, paths, now: new Date(now) })
      const last = lastOfFullPage(records)
      if (last === undefined) await moveMatcher(db, moved)
      else partway = { from: position.snapshot, to, toFloor, at, id: last.id }
      return { woken, more: last !== undefined, waits: true }
    })
}

/** A position that nothing reads from is moved now and then; also after the clock was set back. */
function isOld({ moved_at: movedAt }: MatcherRow, now: number): boolean {
  return now - movedAt.getTime() >= IDLE_MS || now < movedAt.getTime()
}

/** undefined: there is no further page. */
function lastOfFullPage(records: readonly NewRecord[]): NewRecord | undefined {
  return records.length < ROWS_MAX ? undefined : records.at(-1)
}

/** Another database, or this one after a crash, has other transaction numbers. A read by time loses nothing. */
function startOf(
  position: MatcherRow,
  { history, now }: { history: string; now: number },
): { from: Snapshot; floor: number } {
  const from = history === position.history ? snapshotOf(position.snapshot) : NOTHING
  // A clock that was set back creates ids with earlier times.
  return { from, floor: seesNothing(from) ? position.floor_ms : Math.min(position.floor_ms, now - MARGIN_MS) }
}

function scopeOf(paths: readonly WaitPath[]): Pick<Parameters<typeof readNewRecords>[1], 'projects' | 'datasets'> {
  const projects = new Map(paths.map(({ workspace_id, project_id }) => [project_id, { workspace_id, project_id }]))
  return { projects: [...projects.values()], datasets: [...new Set(paths.map((path) => path.wait_dataset))] }
}

type Waking = { readonly records: readonly NewRecord[]; readonly paths: readonly WaitPath[]; readonly now: Date }
type Probed = Probe & { readonly record: NewRecord; readonly payload: unknown }

async function wake(db: Db, { records, paths, now }: Waking): Promise<number> {
  const pathsOf = Map.groupBy(paths, (path) => `${path.project_id} ${path.wait_dataset}`)
  const probes: Probed[] = []
  for (const record of records) {
    const own = pathsOf.get(`${record.project_id} ${record.dataset}`)
    if (own === undefined) continue
    const parsed = parseStoredJson(record.data)
    if (!parsed.ok) continue
    for (const path of own) {
      const key = waitKey(path.wait_path, readPath(parsed.value, compilePath(path.wait_path)))
      if (key !== undefined) probes.push({ ...path, key, record, payload: parsed.value })
    }
  }
  if (probes.length === 0) return 0
  const found = await firstMatches(probes, await findWaits(db, probes))
  return found.length === 0 ? 0 : wakeWaits(db, { found, now })
}

/** The earliest record for each wait. */
async function firstMatches(
  probes: readonly Probed[],
  candidates: readonly CandidateRow[],
): Promise<readonly (InstanceKey & { readonly record_id: string })[]> {
  const { spend } = new PacedWork(Infinity)
  const found = new Map<string, InstanceKey & { readonly record_id: string }>()
  for (const candidate of candidates.toSorted((a, b) => a.ordinal - b.ordinal)) {
    const probe = probes[candidate.ordinal - 1]
    if (probe === undefined || found.has(candidate.id) || isOlder(probe.record, candidate.wait_since)) continue
    const conditions = compileConditions(candidate.wait_conditions, 'strict')
    // oxlint-disable-next-line no-await-in-loop -- it waits only when much work was done
    if ((await finish(conditions.firstFailure(probe.payload, spend))) !== undefined) continue
    const { workspace_id, project_id, id } = candidate
    found.set(id, { workspace_id, project_id, id, record_id: probe.record.id })
  }
  return [...found.values()]
}

/** A record that the wait's own commit saw, or stored, is older than the wait. */
function isOlder({ xid }: NewRecord, since: string): boolean {
  const [snapshot = '', own] = since.split(' ')
  const read = readSnapshot(snapshot)
  return read !== undefined && (sees(read, xid) || xid === Number(own))
}

function snapshotOf(text: string): Snapshot {
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) throw new Error(`"${text}" is not a snapshot.`)
  return snapshot
}

const textOf = ({ xmin, xmax, running }: Snapshot): string => `${xmin}:${xmax}:${running.join(',')}`
