import type { Deps } from '../../../context.ts'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { compileConditions, type CompiledConditions } from '../../../domain/routing/condition.ts'
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
const BYTES_MAX = 8_388_608
/** Comparisons of one commit. Records with a value that many waits share take several commits. */
const COMPARISONS_MAX = 200_000
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
      const { records, more } = await readNewRecords(db, {
        ...scopeOf(paths),
        ...startOf(position, { history, now }),
        to,
        after: after?.id,
        rowsMax: ROWS_MAX,
        bytesMax: BYTES_MAX,
      })
      const { woken, stoppedAt } = await wake(db, { records, paths, now: new Date(now) })
      const last = stoppedAt ?? (more ? records.at(-1) : undefined)
      if (last === undefined) await moveMatcher(db, moved)
      else partway = { from: position.snapshot, to, toFloor, at, id: last.id }
      return { woken, more: last !== undefined, waits: true }
    })
}

/** A position that nothing reads from is moved now and then; also after the clock was set back. */
function isOld({ moved_at: movedAt }: MatcherRow, now: number): boolean {
  return now - movedAt.getTime() >= IDLE_MS || now < movedAt.getTime()
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
/** A record with its values that waits may wait for, each as its place in the list of probes. */
type Probing = { readonly record: NewRecord; readonly payload: unknown; readonly places: readonly number[] }

/** `stoppedAt`: the records after this one have not been compared. */
type Woken = { readonly woken: number; readonly stoppedAt: NewRecord | undefined }

async function wake(db: Db, { records, paths, now }: Waking): Promise<Woken> {
  const { probes, probing } = probesOf(records, paths)
  if (probes.length === 0) return { woken: 0, stoppedAt: undefined }
  const { found, stoppedAt } = await firstMatches(probing, await findWaits(db, probes))
  return { woken: found.length === 0 ? 0 : await wakeWaits(db, { found, now }), stoppedAt }
}

/** The keys of the records, each once: a value that many records have finds its waits once. */
function probesOf(
  records: readonly NewRecord[],
  paths: readonly WaitPath[],
): { readonly probes: readonly Probe[]; readonly probing: readonly Probing[] } {
  const pathsOf = Map.groupBy(paths, (path) => `${path.project_id} ${path.wait_dataset}`)
  const probes: Probe[] = []
  const placeOf = new Map<string, number>()
  const probing = records.flatMap((record): Probing[] => {
    const own = pathsOf.get(`${record.project_id} ${record.dataset}`)
    const parsed = own === undefined ? undefined : parseStoredJson(record.data)
    if (own === undefined || parsed?.ok !== true) return []
    const places = own.flatMap((path): number[] => {
      const key = waitKey(path.wait_path, readPath(parsed.value, compilePath(path.wait_path)))
      if (key === undefined) return []
      const name = `${path.project_id} ${key.toString('hex')} ${path.wait_dataset}`
      const place = placeOf.get(name) ?? probes.push({ ...path, key }) - 1
      placeOf.set(name, place)
      return [place]
    })
    return places.length === 0 ? [] : [{ record, payload: parsed.value, places }]
  })
  return { probes, probing }
}

type Match = InstanceKey & { readonly record_id: string }
type Candidate = {
  readonly row: CandidateRow
  readonly conditions: CompiledConditions
  readonly isOlder: (record: NewRecord) => boolean
}

const candidateOf = (row: CandidateRow): Candidate => ({
  row,
  conditions: compileConditions(row.wait_conditions, 'strict'),
  isOlder: olderThan(row.wait_since),
})

/** The earliest record for each wait. It stops between two records when it has compared enough for one commit. */
async function firstMatches(
  probing: readonly Probing[],
  rows: readonly CandidateRow[],
): Promise<{ readonly found: readonly Match[]; readonly stoppedAt: NewRecord | undefined }> {
  const { spend } = new PacedWork(Infinity)
  const candidates = Map.groupBy(rows.map(candidateOf), ({ row }) => row.ordinal - 1)
  const found = new Map<string, Match>()
  let comparisons = 0
  for (const { record, payload, places } of probing) {
    for (const { row, conditions, isOlder } of places.flatMap((place) => candidates.get(place) ?? [])) {
      if (found.has(row.id) || isOlder(record)) continue
      comparisons += 1
      // oxlint-disable-next-line no-await-in-loop -- it waits only when much work was done
      if ((await finish(conditions.firstFailure(payload, spend))) !== undefined) continue
      const { workspace_id, project_id, id } = row
      found.set(id, { workspace_id, project_id, id, record_id: record.id })
    }
    if (comparisons >= COMPARISONS_MAX && record !== probing.at(-1)?.record)
      return { found: [...found.values()], stoppedAt: record }
  }
  return { found: [...found.values()], stoppedAt: undefined }
}

/** A record that the wait's own commit saw, or stored, is older than the wait. */
function olderThan(since: string): (record: NewRecord) => boolean {
  const [snapshot = '', own] = since.split(' ')
  const read = readSnapshot(snapshot)
  return ({ xid }) => read !== undefined && (sees(read, xid) || xid === Number(own))
}

function snapshotOf(text: string): Snapshot {
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) throw new Error(`"${text}" is not a snapshot.`)
  return snapshot
}

const textOf = ({ xmin, xmax, running }: Snapshot): string => `${xmin}:${xmax}:${running.join(',')}`
