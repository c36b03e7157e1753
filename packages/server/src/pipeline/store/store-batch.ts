import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../context.ts'
import type { Db } from '../../platform/db.ts'
import { holdDatasets, listDatasetsOf } from '../../resources/capture/datasets/queries.ts'
import {
  burningFreeKeys,
  burnKeys,
  findKeys,
  holdKeys,
  type IdempotencyKeyRow,
} from '../../resources/capture/idempotency-keys/queries.ts'
import {
  insertEvents,
  insertEventsBy,
  insertPermittedEvents,
  type EventRows,
} from '../../resources/capture/submissions/queries.ts'
import { addUsage, holdUsage, type MonthOf, type Used } from '../../resources/workspace/usage/queries.ts'
import type { ProjectPlan } from '../directory.ts'
import { acceptanceOf, unavailable, type Routed } from '../types.ts'
import type { Deadline } from './deadline.ts'
import { admit, countedIn, countOf, monthKey, type Known, type Verdict } from './admit.ts'
import { keptAnswer } from './first-answer.ts'

/** An event with its rows, waiting to be stored. */
export type Storable = { readonly event: Routed; readonly rows: EventRows }

/** What has not come to its commit by then is given up: who waits for the commit's answer asks for it no longer than 20 s. */
const WRITTEN_MS_MAX = 9_000

export type Storing = Deps & { readonly deadline: Deadline }

/**
 * Stores a batch in one commit and gives one verdict an event; admitted ones are stored.
 *
 * A batch without quotas, allowances and new datasets is one statement, void when it begins too late. It tries to hold each
 * idempotency key by an advisory lock until its end, and does not wait for one that another transaction holds: that event is
 * `busy` and comes again in a later batch, so no member waits for another's key. A lock is held from before the look at the burnt
 * keys until after the commit is visible, so one key has one submission, whichever process stores it and whenever that dies.
 * Should two ever pass, the primary key fails the statement. Events whose key is burnt or held are left out of it.
 *
 * Otherwise one transaction:
 * 1. It holds the keys in the same way.
 * 2. It holds the row of each workspace's month, all in one order. This is where batches of one workspace queue.
 * 3. It holds the datasets of each project in which an event names a new one, and reads them, so that their number is exact.
 * 4. It judges (`admit`), and writes what it admitted, the keys and the counts.
 */
export async function storeBatch(storing: Storing, batch: readonly Storable[]): Promise<readonly Verdict[]> {
  if (batch.some(isLimited)) return storeLimited(storing, batch)
  const store = batch.some(({ event }) => event.verified.idempotency !== undefined) ? storeKeyed : storeFree
  const first = await store(storing, batch)
  if (!first.mayBeVoid) return first.verdicts
  storing.deadline.forget()
  const second = await store(storing, batch)
  if (second.mayBeVoid) storing.deadline.forget()
  return second.verdicts
}

/** `mayBeVoid`: nothing was stored, as if the statement had begun too late. Sent again, it does no harm. */
type Tried = { readonly verdicts: readonly Verdict[]; readonly mayBeVoid: boolean }

async function storeFree({ database, deadline }: Storing, batch: readonly Storable[]): Promise<Tried> {
  const isDone = await insertEventsBy(
    database,
    await deadline.next(),
    batch.map(({ rows }) => rows),
  )
  return { verdicts: batch.map(() => (isDone ? 'admitted' : unavailable)), mayBeVoid: !isDone }
}

async function storeKeyed(storing: Storing, batch: readonly Storable[]): Promise<Tried> {
  const now = storing.clock.now()
  const since = keptSince(now)
  // Of equal keys the first one alone is asked for: the others are busy until it is stored.
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
    permitted: burningFreeKeys({ rows: keys, since, deadline }),
    anyway,
  })
  const others = keys.filter(({ submission_id }) => !stored.has(submission_id))
  const judged = admit(
    batch.map(({ event }) => event),
    {
      held: new Set(keys.filter(({ submission_id }) => stored.has(submission_id)).map(({ key_hash }) => key_hash)),
      burnt: others.length === 0 ? new Map() : await burntAmong(storing, { keys: others, since }),
      used: new Map(),
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
    mayBeVoid: stored.size === 0 && verdicts.some((verdict) => verdict === unavailable || isBusy(verdict)),
  }
}

const isBusy = (verdict: Verdict): boolean => typeof verdict === 'object' && verdict.kind === 'busy'

/** What is stored is stored by now: a failure to look is no failure of the batch, and the events in question are busy. */
async function burntAmong(
  deps: Deps,
  { keys, since }: { keys: readonly IdempotencyKeyRow[]; since: Date },
): Promise<Known['burnt']> {
  try {
    return byHash(await findKeys(deps.database, { keys, since }))
  } catch (error) {
    deps.log.warn('ingest.keys_not_read', { keys: keys.length, cause: error })
    return new Map()
  }
}

/** Keys that were burnt before are free. */
export const keptSince = (now: number): Date => new Date(now - LIMITS.idempotencyKeptMs)

const byHash = (rows: readonly IdempotencyKeyRow[]): Known['burnt'] => new Map(rows.map((row) => [row.key_hash, row]))

async function storeLimited(deps: Deps, batch: readonly Storable[]): Promise<readonly Verdict[]> {
  const now = deps.clock.now()
  return deps.database.transaction(async (tx) => {
    const since = keptSince(now)
    const events = batch.map(({ event }) => event)
    const known = await learn(tx, { batch, since })
    const verdicts = admit(events, { ...known, now, upgradeUrl: deps.upgradeUrl() })
    const admitted = batch.flatMap((storable, index) => toStore(storable, verdicts[index]))
    if (admitted.length > 0) await write(tx, { admitted, since })
    if (deps.clock.now() - now > WRITTEN_MS_MAX)
      throw new Error('A batch took too long to be written; it was given up.')
    return verdicts
  })
}

function isLimited({ event, rows }: Storable): boolean {
  return rows.newDatasets.length > 0 || countedIn(event) !== undefined
}

/** An event as it is written: those of its deliveries that the allowance has no room for wait. Nothing, when it is not admitted. */
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

/** The statements go out together and run in this order; each sees what was committed before it began. */
async function learn(
  tx: Db,
  { batch, since }: { batch: readonly Storable[]; since: Date },
): Promise<Pick<Known, 'burnt' | 'held' | 'used' | 'datasets'>> {
  const events = batch.map(({ event }) => event)
  const keys = events.flatMap(({ verified: { idempotency, receiver } }) =>
    idempotency === undefined ? [] : [{ workspace_id: receiver.plan.workspaceId, key_hash: idempotency.hash }],
  )
  const months = [...monthsOf(events).values()]
  const [held, rows, used] = await Promise.all([
    keys.length === 0
      ? new Set<string>()
      : holdKeys(
          tx,
          keys.map((key) => key.key_hash),
        ),
    keys.length === 0 ? [] : findKeys(tx, { keys, since }),
    months.length === 0 ? [] : holdUsage(tx, months),
  ])
  const burnt = byHash(rows)
  // What is a repeat makes no dataset, and must not wait for who makes one.
  const isFirst = ({ event: { verified } }: Storable): boolean =>
    verified.idempotency === undefined || (held.has(verified.idempotency.hash) && !burnt.has(verified.idempotency.hash))
  const growing = growingProjects(batch.filter(isFirst))
  return {
    datasets: new Map(growing.length === 0 ? [] : await datasetsOf(tx, growing)),
    held,
    burnt,
    used: new Map(used.map((row) => [monthKey({ workspaceId: row.workspace_id, month: row.month }), row])),
  }
}

/** What they are told here the plans need not be told again: a project that is full is known to be. */
async function datasetsOf(
  tx: Db,
  growing: readonly ProjectPlan[],
): Promise<readonly (readonly [string, ReadonlySet<string>])[]> {
  const [, rows] = await Promise.all([
    holdDatasets(
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
  const [burnt] = await Promise.all([
    keys.length === 0 ? 0 : burnKeys(tx, { rows: keys, since }),
    counts.length === 0 ? undefined : addUsage(tx, counts),
    insertEvents(
      tx,
      admitted.map(({ rows }) => rows),
    ),
  ])
  if (burnt !== keys.length) throw new Error('A key was consumed by a request that had not locked it.')
}

/** The months that events count in, and what they add to each. */
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

/** undefined: it has no key. */
function keyRow(event: Routed): IdempotencyKeyRow | undefined {
  const { idempotency, captured, receiver } = event.verified
  if (idempotency === undefined) return undefined
  return {
    workspace_id: receiver.plan.workspaceId,
    key_hash: idempotency.hash,
    fingerprint: idempotency.fingerprint,
    submission_id: event.submissionId,
    received_at: new Date(captured.receivedAt),
    answer: keptAnswer(acceptanceOf(event)),
  }
}
