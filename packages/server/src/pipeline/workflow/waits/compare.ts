import type { Condition } from '@postroad/contract'
import { storedView, type StoredRequest } from '../../../domain/capture/request-view.ts'
import { parseStoredJson, stringifyJson } from '../../../domain/json/json-text.ts'
import { compileConditions, type CompiledConditions } from '../../../domain/routing/condition.ts'
import { compileEventPath, isMasked, readEvent, type EventSource } from '../../../domain/routing/event-path.ts'
import { readSnapshot, sees } from '../../../domain/serving/snapshot.ts'
import { task } from '../../../platform/heavy/task.ts'
import { waitKey } from '../wait-key.ts'

/** A record by its payload as JSON and its request. null: no sender sent it. */
export type Read = { readonly data: string; readonly request: StoredRequest | null }
/** A record, and the paths at which instances wait for records like it. */
type Probed = Read & { readonly paths: readonly string[] }

function sourceOf({ data, request }: Read): EventSource | undefined {
  const parsed = parseStoredJson(data)
  return parsed.ok ? { payload: parsed.value, request: request === null ? null : storedView(request) } : undefined
}

/** The key of a record at a path; undefined: it has no value there that a wait could find. */
function keyAt(source: EventSource, path: string): Buffer | undefined {
  const compiled = compileEventPath(path)
  const value = readEvent(source, compiled)
  return isMasked(value, compiled) ? undefined : waitKey(path, value)
}

/** The keys of records at their paths, as hex; null: the record has no value there. */
export const probeRecords = task('waits.probe', (records: readonly Probed[]): readonly (readonly (string | null)[])[] =>
  records.map(({ paths, ...record }) => {
    const source = sourceOf(record)
    return paths.map((path) => (source === undefined ? null : (keyAt(source, path)?.toString('hex') ?? null)))
  }),
)

/** A record, with the places of its probes. */
export type ProbedRecord = Read & {
  readonly id: string
  readonly xid: number
  readonly places: readonly number[]
}
/** A wait that a probe found: its number in the list, and its conditions as JSON. */
export type Candidate = {
  readonly id: string
  readonly place: number
  readonly conditions: string
  readonly since: string
  /** The ids of records that do not end the wait, with commas; null: none. */
  readonly past: string | null
  /** Records with later ids are not compared; null: all are. */
  readonly upTo: string | null
}
type Asked = {
  readonly records: readonly ProbedRecord[]
  readonly candidates: readonly Candidate[]
  readonly comparisonsMax: number
}
type Compared = {
  /** The numbers of waits, and of the first record that matches each. */
  readonly found: readonly { readonly candidate: number; readonly record: number }[]
  /** The number of the record after which it stopped; null: it compared all. */
  readonly stoppedAt: number | null
}

/** The earliest record for each wait. It stops between two records when it has compared enough. */
export const matchWaits = task('waits.match', ({ records, candidates, comparisonsMax }: Asked): Compared => {
  const byPlace = Map.groupBy(candidates.map(comparable), ({ place }) => place)
  const found = new Map<string, { readonly candidate: number; readonly record: number }>()
  let comparisons = 0
  for (const [record, { id: recordId, xid, places, ...read }] of records.entries()) {
    const source = sourceOf(read) ?? NOTHING
    for (const { id, number: candidate, conditions, isOlder, excludes } of places.flatMap(
      (place) => byPlace.get(place) ?? [],
    )) {
      if (found.has(id) || excludes(recordId) || isOlder(xid)) continue
      comparisons += 1
      if (conditions.firstFailure(source) === undefined) found.set(id, { candidate, record })
    }
    if (comparisons >= comparisonsMax && record < records.length - 1)
      return { found: [...found.values()], stoppedAt: record }
  }
  return { found: [...found.values()], stoppedAt: null }
})

const NOTHING: EventSource = { payload: null, request: null }

type Comparable = {
  readonly id: string
  readonly number: number
  readonly place: number
  readonly conditions: CompiledConditions
  readonly isOlder: (xid: number) => boolean
  readonly excludes: (recordId: string) => boolean
}

function comparable({ id, place, conditions, since, past, upTo }: Candidate, number: number): Comparable {
  const parsed = parseStoredJson(conditions)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by `conditionsText`
  const list = parsed.ok ? (parsed.value as Condition[]) : []
  const pastIds = new Set(past?.split(','))
  return {
    id,
    number,
    place,
    conditions: compileConditions(list, 'strict'),
    isOlder: olderThan(since),
    excludes: (recordId) => pastIds.has(recordId) || (upTo !== null && recordId > upTo),
  }
}

export const conditionsText = (conditions: readonly Condition[]): string => stringifyJson(conditions)

/** A record that the commit at the start of the time saw, or stored, is older. */
function olderThan(since: string): (xid: number) => boolean {
  const [snapshot = '', own] = since.split(' ')
  const read = readSnapshot(snapshot)
  return (xid) => read !== undefined && (sees(read, xid) || xid === Number(own))
}
