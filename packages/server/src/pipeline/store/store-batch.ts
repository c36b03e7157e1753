import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../platform/db.ts'
import { lockDatasets, listDatasetsOf } from '../../resources/capture/datasets/queries.ts'
import {
  consumingFreeKeys,
  consumeKeys,
  findKeys,
  lockKeys,
  type IdempotencyKeyRow,
} from '../../resources/capture/idempotency-keys/queries.ts'
import {
  insertEvents,
  insertEventsBy,
  insertPermittedEvents,
  type EventRows,
  type StoredIds,
} from '../../resources/capture/submissions/insert/queries.ts'
import {
  addUsage,
  countDescendants,
  lockUsage,
  type MonthOf,
  type RootOf,
  type Used,
} from '../../resources/workspace/usage/queries.ts'
import type { ProjectPlan } from '../directory.ts'
import { acceptanceOf, unavailable, type Routed } from '../types.ts'
import type { Deadline } from './deadline.ts'
import { admit, countedIn, countedUnder, countOf, monthKey, rootKey, type Known, type Verdict } from './admit.ts'
import { storedAnswer } from './first-answer.ts'

/** An event with its rows, waiting to be stored. */
export type Storable = { readonly event: Routed; readonly rows: EventRows }

/** A batch that has not committed by then is given up, because the caller waits for the commit's answer for 20 s at most. */
const WRITTEN_MS_MAX = 9_000

export type Storing = Deps & { readonly deadline: Deadline }

/**
 * Stores a batch in one commit and returns one verdict per event; admitted events are stored.
 *
 * A batch without quotas, allowances and new datasets is one statement, which is void when it starts too late. It tries to
 * lock each idempotency key with an advisory lock, and does not wait for a key that another transaction has locked: that event
 * is `busy` and comes again in a later batch. The lock is taken before the consumed keys are read and released after the
 * commit is visible, so one key has one submission, whichever process stores it and whenever that process dies. If two events
 * ever passed, the primary key would fail the statement. Events whose key is consumed or locked are left out.
 *
 * Otherwise it is one transaction:
 * 1. It locks the keys in the same way.
 * 2. It locks the row of each workspace's month, always in one order. Batches of one workspace queue here. It counts the
 *    events that workflows and agents made from one event.
 * 3. It locks the datasets of each project in which an event names a new one, and reads them, so that their number is exact.
 * 4. It judges the events (`admit`), and writes the admitted ones, the keys and the counts.
 */
export async function storeBatch(storing: Storing, batch: readonly Storable[]): Promise<Batch> {
  if (batch.some(isLimited)) return storeLimited(storing, batch)
  const store = batch.some(({ event }) => event.verified.idempotency !== undefined) ? storeKeyed : storeFree
  const first = await store(storing, batch)
  if (!first.mayBeVoid) return first
  storing.deadline.forget()
  const second = await store(storing, batch)
  if (second.mayBeVoid) storing.deadline.forget()
  return second
}

/** The result of a batch: one verdict per event, and the ids of what a single statement has stored. */
export type Batch = { readonly verdicts: readonly Verdict[]; readonly stored: StoredIds }

/** `mayBeVoid`: nothing was stored, as if the statement had started too late. Sending it again does no harm. */
type Tried = Batch & { readonly mayBeVoid: boolean }

async function storeFree({ database, deadline }: Storing, batch: readonly Storable[]): Promise<Tried> {
  const stored = await insertEventsBy(
    database,
    await deadline.next(),
    batch.map(({ rows }) => rows),
  )
  const isDone = stored.size > 0
  return { verdicts: batch.map(() => (isDone ? 'admitted' : unavailable)), stored, mayBeVoid: !isDone }
}

async function storeKeyed(storing: Storing, batch: readonly Storable[]): Promise<Tried> {
  const now = storing.clock.now()
  const since = retainedSince(now)
  // Only the first of equal keys is looked up: the others are busy until it is stored.
  const asked = new Map<string, { readonly key: IdempotencyKeyRow; readonly rows: EventRows }>()
  const anyway: EventRows[] = []
  for (const { event, rows } of batch) {
    const key = keyRow(event)
    if (key === undefined) anyway.push(rows)
    else if (!asked.has(key.key_hash)) asked.set(key.key_hash, { key, rows })
  }
  const keys = [...asked.values()].map(({ key }) => key)
  const deadline = await storing.deadline.next()
  const stored = await insertPermittedEvents(storing.database, {
    deadline,
    events: [...asked.values()].map(({ rows }) => rows),
    permitted: consumingFreeKeys({ rows: keys, since, deadline }),
    anyway,
  })
  const others = keys.filter(({ submission_id }) => !stored.has(submission_id))
  const judged = admit(
    batch.map(({ event }) => event),
    {
      held: new Set(keys.filter(({ submission_id }) => stored.has(submission_id)).map(({ key_hash }) => key_hash)),
      consumed: others.length === 0 ? new Map() : await consumedAmong(storing, { keys: others, since }),
      used: new Map(),
      descendants: new Map(),
      datasets: new Map(),
      now,
      upgradeUrl: storing.upgradeUrl(),
    },
  )
  const verdicts = judged.map((verdict, index) =>
    verdict === 'admitted' && !stored.has(batch[index]?.rows.submission.id ?? '') ? unavailable : verdict,
  )
  return {
    verdicts,
    stored,
    mayBeVoid: stored.size === 0 && verdicts.some((verdict) => verdict === unavailable || isBusy(verdict)),
  }
}

const isBusy = (verdict: Verdict): boolean => typeof verdict === 'object' && verdict.kind === 'busy'

/** The stored events are already stored, so a failed read does not fail the batch: the events in question are busy. */
async function consumedAmong(
  deps: Deps,
  { keys, since }: { keys: readonly IdempotencyKeyRow[]; since: Date },
): Promise<Known['consumed']> {
  try {
    return byHash(await findKeys(deps.database, { keys, since }))
  } catch (error) {
    deps.log.warn('ingest.keys_not_read', { keys: keys.length, cause: error })
    return new Map()
  }
}

/** Keys that were consumed before this time are free again. */
export const retainedSince = (now: number): Date => new Date(now - LIMITS.idempotencyRetentionMs)

const byHash = (rows: readonly IdempotencyKeyRow[]): Known['consumed'] =>
  new Map(rows.map((row) => [row.key_hash, row]))

/**
 * Stores a batch and the work of the caller in one transaction: both are committed, or neither. `alongside` gets the verdicts before
 * the commit, and rolls everything back if it throws.
 */
export function storeAlongside(
  deps: Deps,
  batch: readonly Storable[],
  alongside: (tx: Db, verdicts: readonly Verdict[]) => Promise<void>,
): Promise<readonly Verdict[]> {
  const began = deps.clock.now()
  return deps.database.transaction(async (tx) => {
    const verdicts = batch.length === 0 ? [] : await judgeAndWrite(deps, tx, batch)
    await alongside(tx, verdicts)
    giveUpIfLate(deps, began)
    return verdicts
  })
}

async function storeLimited(deps: Deps, batch: readonly Storable[]): Promise<Batch> {
  return { verdicts: await storeAlongside(deps, batch, async () => undefined), stored: new Set() }
}

async function judgeAndWrite(deps: Deps, tx: Db, batch: readonly Storable[]): Promise<readonly Verdict[]> {
  const now = deps.clock.now()
  const since = retainedSince(now)
  const events = batch.map(({ event }) => event)
  const known = await learn(tx, { batch, since, now: new Date(now) })
  const verdicts = admit(events, { ...known, now, upgradeUrl: deps.upgradeUrl() })
  const admitted = batch.flatMap((storable, index) => toStore(storable, verdicts[index]))
  if (admitted.length > 0) await write(tx, { admitted, since })
  return verdicts
}

function giveUpIfLate({ clock }: Deps, began: number): void {
  if (clock.now() - began > WRITTEN_MS_MAX) throw new Error('Writing a batch took too long, so the server stopped it.')
}

/** Quotas, allowances and new datasets take a transaction. */
export function isLimited({ event, rows }: Storable): boolean {
  return rows.newDatasets.length > 0 || countedIn(event) !== undefined
}

/** The rows of an event as they are written: deliveries beyond the allowance wait. Empty when the event is not admitted. */
function toStore(storable: Storable, verdict: Verdict | undefined): readonly Storable[] {
  if (verdict === 'admitted') return [storable]
  if (verdict?.kind !== 'beyond_allowance') return []
  const { deliveries } = verdict
  return [{ event: { ...storable.event, deliveries }, rows: { ...storable.rows, deliveries } }]
}

/** The plans of projects in which an event names a dataset that its plan did not know. */
function growingProjects(batch: readonly Storable[]): readonly ProjectPlan[] {
  return [
    ...new Map(
      batch
        .filter(({ rows }) => rows.newDatasets.length > 0)
        .map(({ event: { verified } }) => [verified.receiver.plan.projectId, verified.receiver.plan]),
    ).values(),
  ]
}

/** The statements are sent together and run in this order. Each sees everything that was committed before it started. */
async function learn(
  tx: Db,
  { batch, since, now }: { batch: readonly Storable[]; since: Date; now: Date },
): Promise<Pick<Known, 'consumed' | 'held' | 'used' | 'descendants' | 'datasets'>> {
  const events = batch.map(({ event }) => event)
  const keys = events.flatMap(({ verified: { idempotency, receiver } }) =>
    idempotency === undefined ? [] : [{ workspace_id: receiver.plan.workspaceId, key_hash: idempotency.hash }],
  )
  const months = [...monthsOf(events).values()]
  const roots = rootsOf(events)
  const [held, rows, used, descendants] = await Promise.all([
    keys.length === 0
      ? new Set<string>()
      : lockKeys(
          tx,
          keys.map((key) => key.key_hash),
        ),
    keys.length === 0 ? [] : findKeys(tx, { keys, since }),
    months.length === 0 ? [] : lockUsage(tx, months),
    roots.length === 0 ? [] : countDescendants(tx, { roots, now }),
  ])
  const consumed = byHash(rows)
  // A repeat creates no dataset, and must not wait for a transaction that creates one.
  const isFirst = ({ event: { verified } }: Storable): boolean =>
    verified.idempotency === undefined ||
    (held.has(verified.idempotency.hash) && !consumed.has(verified.idempotency.hash))
  const growing = growingProjects(batch.filter(isFirst))
  return {
    datasets: new Map(growing.length === 0 ? [] : await datasetsOf(tx, growing)),
    held,
    consumed,
    descendants: new Map(
      descendants.map((row) => [rootKey({ workspaceId: row.workspace_id, rootId: row.root_id }), row.before]),
    ),
    used: new Map(used.map((row) => [monthKey({ workspaceId: row.workspace_id, month: row.month }), row])),
  }
}

/** The plans learn these names too, so the next event for a full project is refused without this query. */
async function datasetsOf(
  tx: Db,
  growing: readonly ProjectPlan[],
): Promise<readonly (readonly [string, ReadonlySet<string>])[]> {
  const [, rows] = await Promise.all([
    lockDatasets(
      tx,
      growing.map(({ projectId }) => projectId),
    ),
    listDatasetsOf(tx, growing),
  ])
  return growing.map(({ projectId, datasets }) => {
    const names = rows.filter((row) => row.project_id === projectId).map((row) => row.name)
    for (const name of names) datasets.add(name)
    return [projectId, new Set(names)]
  })
}

async function write(tx: Db, { admitted, since }: { admitted: readonly Storable[]; since: Date }): Promise<void> {
  const keys = admitted.flatMap(({ event }) => keyRow(event) ?? [])
  const counts = [...monthsOf(admitted.map(({ event }) => event)).values()]
  const [consumed] = await Promise.all([
    keys.length === 0 ? 0 : consumeKeys(tx, { rows: keys, since }),
    counts.length === 0 ? undefined : addUsage(tx, counts),
    insertEvents(
      tx,
      admitted.map(({ rows }) => rows),
    ),
  ])
  if (consumed !== keys.length) throw new Error('A key was consumed by a request that had not locked it.')
}

/** The months in which events count, and the amounts that they add to each. */
function monthsOf(events: readonly Routed[]): ReadonlyMap<string, MonthOf & Used> {
  const months = new Map<string, MonthOf & Used>()
  for (const event of events) {
    const counted = countedIn(event)
    if (counted === undefined) continue
    const { workspaceId, month } = counted
    const { events: one, deliveries } = countOf(counted, event.deliveries)
    const known = months.get(monthKey(counted)) ?? { events: 0, deliveries: 0 }
    months.set(monthKey(counted), {
      workspaceId,
      month,
      events: known.events + one,
      deliveries: known.deliveries + deliveries,
    })
  }
  return months
}

/** The roots under which events count, and the number of events that each gets, refused ones too. */
function rootsOf(events: readonly Routed[]): readonly (RootOf & { readonly events: number })[] {
  const counted = events.flatMap((event) => countedUnder(event) ?? [])
  return [...Map.groupBy(counted, rootKey).values()].flatMap((those) =>
    those[0] === undefined ? [] : [{ ...those[0], events: those.length }],
  )
}

/** undefined: the event has no key. */
function keyRow(event: Routed): IdempotencyKeyRow | undefined {
  const { idempotency, captured, receiver } = event.verified
  if (idempotency === undefined) return undefined
  return {
    workspace_id: receiver.plan.workspaceId,
    key_hash: idempotency.hash,
    fingerprint: idempotency.fingerprint,
    id_hash: idempotency.id,
    submission_id: event.submissionId,
    received_at: new Date(captured.receivedAt),
    answer: storedAnswer(acceptanceOf(event)),
  }
}
