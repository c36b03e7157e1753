import type { Deps } from '../../../context.ts'
import { Horizon, NOTHING, readSnapshot, seesNothing, type Snapshot } from '../../../domain/serving/snapshot.ts'
import type { Db } from '../../../platform/db.ts'
import { INSTALLATION } from '../../../platform/heavy/heavy.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../platform/ids.ts'
import { beginGeneration, readMoment } from '../../../resources/serving/stream/queries.ts'
import type { InstanceKey } from '../instance.ts'
import type { Matched } from '../ports.ts'
import { conditionsText, matchWaits, probeRecords, type Read } from './compare.ts'
import { MARGIN_MS } from './margin.ts'
import {
  findWaits,
  listLookingBack,
  listWaitPaths,
  lockMatcher,
  moveLookingBack,
  moveMatcher,
  readNewRecords,
  wakeWaits,
  type CandidateRow,
  type LookingBack,
  type MatcherRow,
  type NewRecord,
  type Probe,
  type WaitPath,
} from './queries.ts'

const PATIENCE_MS = 60_000
const ROWS_MAX = 500
const BYTES_MAX = 8_388_608
/** Comparisons of one commit. Records with a value that many waits share take several commits. */
const COMPARISONS_MAX = 200_000
/** Waits, and groups of them, that look back in one commit. */
const LOOKING_BACK_MAX = 1_000
const GROUPS_MAX = 20
/** Waits that started within this time read the same records together. */
const TOGETHER_MS = 60_000
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
 * is taken before the waits are listed, so a wait that this run does not see started after it, and the next run reads its
 * records. The position moves with the last page, so a crash repeats pages and skips none.
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
      const range = { after: after?.id, ...startOf(position, { history, now }), to }
      const { woken, last, more } = await comparePage({ deps, db }, { paths, range, now: new Date(now) })
      if (last === undefined) await moveMatcher(db, moved)
      else partway = { from: position.snapshot, to, toFloor, at, id: last.id }
      return { woken, more, waits: true }
    })
}

type Tools = { readonly deps: Deps; readonly db: Db }
type Page = {
  readonly paths: readonly WaitPath[]
  readonly range: Pick<Parameters<typeof readNewRecords>[1], 'after' | 'from' | 'to' | 'floor'>
  readonly now: Date
}

/** One page of the new records, and of those before new waits. `last`: the records after this one are left. */
async function comparePage(
  tools: Tools,
  { paths, range, now }: Page,
): Promise<{ readonly woken: number; readonly last: NewRecord | undefined; readonly more: boolean }> {
  const { deps, db } = tools
  const back = await lookBack(tools, { to: range.to, now })
  const { records, more } = await readNewRecords(db, {
    ...scopeOf(paths),
    ...range,
    rowsMax: ROWS_MAX,
    bytesMax: BYTES_MAX,
  })
  const { woken, stoppedAt } = await wake(deps, db, { records, paths, now })
  const last = stoppedAt ?? (more ? records.at(-1) : undefined)
  return { woken: woken + back.woken, last, more: last !== undefined || back.more }
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
type Probing = { readonly record: NewRecord; readonly places: readonly number[] }

/** `stoppedAt`: the records after this one have not been compared. */
type Woken = { readonly woken: number; readonly stoppedAt: NewRecord | undefined }

// oxlint-disable-next-line max-params -- dependencies, the transaction, and the records
async function wake(deps: Deps, db: Db, { records, paths, now }: Waking): Promise<Woken> {
  const { probes, probing } = await probesOf(deps, { records, paths })
  if (probes.length === 0) return { woken: 0, stoppedAt: undefined }
  const { found, stoppedAt } = await firstMatches(deps, { probing, rows: await findWaits(db, probes) })
  return { woken: found.length === 0 ? 0 : await wakeWaits(db, { found, now }), stoppedAt }
}

type Back = { readonly woken: number; readonly more: boolean }

/**
 * Compares waits with the records that were stored after their instances started, up to `to`, in the order of ids. Each group of
 * a project and a dataset reads a page. A record that became visible late, behind the pages that are compared, comes with the
 * read of new records.
 */
async function lookBack(tools: Tools, at: { readonly to: Snapshot; readonly now: Date }): Promise<Back> {
  const waits = await listLookingBack(tools.db, { limit: LOOKING_BACK_MAX })
  const groups = [...Map.groupBy(waits, (wait) => `${wait.project_id} ${wait.wait_dataset}`).values()]
  let woken = 0
  let more = waits.length === LOOKING_BACK_MAX || groups.length > GROUPS_MAX
  for (const group of groups.slice(0, GROUPS_MAX)) {
    const [latest] = group
    if (latest === undefined) continue
    const since = uuidv7Floor(uuidv7Ms(latest.wait_from) - TOGETHER_MS)
    const together = group.filter(({ wait_from: from }) => from >= since)
    // oxlint-disable-next-line no-await-in-loop -- one connection
    const back = await lookBackTogether(tools, { ...at, waits: together })
    woken += back.woken
    more ||= back.more || together.length < group.length
  }
  return { woken, more }
}

/** The waits are of one project and one dataset, the latest start first. */
async function lookBackTogether(
  { deps, db }: Tools,
  { waits, to, now }: { readonly waits: readonly LookingBack[]; readonly to: Snapshot; readonly now: Date },
): Promise<Back> {
  const after = waits.at(-1)?.wait_from ?? ''
  const { records, more } = await readNewRecords(db, {
    ...scopeOf(waits),
    from: NOTHING,
    floor: uuidv7Ms(after),
    to,
    after,
    rowsMax: ROWS_MAX,
    bytesMax: BYTES_MAX,
  })
  const { probes, probing } = await probesOf(deps, { records, paths: eachPath(waits) })
  const places = new Map(probes.map(({ wait_path, key }, place) => [nameOf(wait_path, key), place]))
  const rows = waits.flatMap((wait): readonly CandidateRow[] => {
    const place = places.get(nameOf(wait.wait_path, wait.wait_key))
    return place === undefined ? [] : [{ ...wait, wait_from: null, ordinal: place + 1 }]
  })
  const { found, stoppedAt } = await firstMatches(deps, { probing, rows })
  const woken = found.length === 0 ? 0 : await wakeWaits(db, { found, now })
  const last = stoppedAt ?? (more ? records.at(-1) : undefined)
  await moveLookingBack(db, { waits, from: last?.id ?? null })
  return { woken, more: last !== undefined }
}

const nameOf = (path: string, key: Buffer): string => `${path} ${key.toString('hex')}`

/** Each path once. */
const eachPath = (waits: readonly LookingBack[]): readonly WaitPath[] => [
  ...new Map(waits.map((wait) => [wait.wait_path, wait])).values(),
]

type Reading = { readonly records: readonly NewRecord[]; readonly paths: readonly WaitPath[] }

/** The keys of the records, each once: a value that many records have finds its waits once. */
async function probesOf(
  { heavy }: Deps,
  { records, paths }: Reading,
): Promise<{ readonly probes: readonly Probe[]; readonly probing: readonly Probing[] }> {
  const pathsOf = Map.groupBy(paths, (path) => `${path.project_id} ${path.wait_dataset}`)
  const own = records.map((record) => pathsOf.get(`${record.project_id} ${record.dataset}`) ?? [])
  const input = records.map((record, at) => ({
    ...readOf(record),
    paths: (own[at] ?? []).map(({ wait_path }) => wait_path),
  }))
  const keys = await heavy.run(probeRecords, { workspaceId: INSTALLATION, input, work: charsOf(records) })
  const probes: Probe[] = []
  const placeOf = new Map<string, number>()
  const probing = records.flatMap((record, at): Probing[] => {
    const places = (own[at] ?? []).flatMap((path, index): number[] => {
      const hex = keys[at]?.[index] ?? null
      if (hex === null) return []
      const name = `${path.project_id} ${hex} ${path.wait_dataset}`
      const place = placeOf.get(name) ?? probes.push({ ...path, key: Buffer.from(hex, 'hex') }) - 1
      placeOf.set(name, place)
      return [place]
    })
    return places.length === 0 ? [] : [{ record, places }]
  })
  return { probes, probing }
}

const readOf = ({ data, headers, query, path }: NewRecord): Read => ({
  data,
  request: headers === null ? null : { headers, query, path },
})

const charsOf = (records: readonly NewRecord[]): number => records.reduce((sum, { data }) => sum + data.length, 0)

type Match = InstanceKey & { readonly record_id: string }
type Matching = { readonly probing: readonly Probing[]; readonly rows: readonly CandidateRow[] }

/** A comparison costs about as much as this many characters. */
const COMPARISON_WORK = 64

/** The earliest record for each wait, up to the record with which enough was compared for one commit. */
async function firstMatches(
  { heavy }: Deps,
  { probing, rows }: Matching,
): Promise<{ readonly found: readonly Match[]; readonly stoppedAt: NewRecord | undefined }> {
  const records = probing.map(({ record, places }) => ({ ...readOf(record), id: record.id, xid: record.xid, places }))
  const candidates = rows.map(({ id, ordinal, wait_conditions, wait_since, wait_past, wait_from }) => ({
    id,
    place: ordinal - 1,
    conditions: conditionsText(wait_conditions),
    since: wait_since,
    past: wait_past,
    upTo: wait_from,
  }))
  const compared = await heavy.run(matchWaits, {
    workspaceId: INSTALLATION,
    input: { records, candidates, comparisonsMax: COMPARISONS_MAX },
    work: charsOf(probing.map(({ record }) => record)) + COMPARISON_WORK * comparisonsOf({ probing, rows }),
  })
  const found = compared.found.flatMap(({ candidate, record }): Match[] => {
    const [row, of] = [rows[candidate], probing[record]]
    if (row === undefined || of === undefined) return []
    const { workspace_id, project_id, id } = row
    return [{ workspace_id, project_id, id, record_id: of.record.id }]
  })
  return { found, stoppedAt: compared.stoppedAt === null ? undefined : probing[compared.stoppedAt]?.record }
}

/** How many pairs of a record and a wait there are at most. */
function comparisonsOf({ probing, rows }: Matching): number {
  const byPlace = Map.groupBy(rows, ({ ordinal }) => ordinal - 1)
  return probing
    .flatMap(({ places }) => places)
    .reduce((sum, place) => sum + (byPlace.get(place)?.length ?? 0), rows.length)
}

function snapshotOf(text: string): Snapshot {
  const snapshot = readSnapshot(text)
  if (snapshot === undefined) throw new Error(`"${text}" is not a snapshot.`)
  return snapshot
}

const textOf = ({ xmin, xmax, running }: Snapshot): string => `${xmin}:${xmax}:${running.join(',')}`
