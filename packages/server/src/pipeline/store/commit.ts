import type { Deps } from '../../context.ts'
import { DbError } from '../../platform/db.ts'
import type { EventRows } from '../../resources/capture/submissions/insert/queries.ts'
import { serverTimes } from '../../platform/server-facts.ts'
import { findStored } from '../../resources/capture/submissions/queries.ts'
import { away, reject, unavailable, type BeginFirst, type Committed, type Routed } from '../types.ts'
import { BATCH_GATE_DEFAULTS, BatchGate } from './batch-gate.ts'
import type { Verdict } from './admit.ts'
import { createDeadline } from './deadline.ts'
import { bytesOf, rowsOf } from './event-rows.ts'
import { isLimited, storeBatch, type Batch, type Storing } from './store-batch.ts'

/**
 * Resolves after the commit that contains the event, never before, or with the reason why the event will not be stored.
 */
export type Commit = (event: Routed) => Promise<Committed>

type Waiting = {
  readonly event: Routed
  readonly rows: EventRows
  readonly bytes: number
  readonly since: number
  readonly answer: (result: Committed) => void
}

const overloaded = reject('overloaded', { retryAfterSeconds: 1 })
/** A little longer than a statement may take. */
const LOOKED_FOR_MS = 5_500
/** Ids are created before the wait, and a stream looks back for rows only as far as ids may be late (docs/adr/0008). */
const WAIT_MS_MAX = 5_000

/**
 * Group commit: requests that arrive together are stored together, in one transaction (`storeBatch`). Then each caller
 * gets its answer. The answer is 503, and the event is not stored, when the queue is full, the wait was too long, or
 * the database refuses.
 */
export function createCommit(given: Deps, beginFirst?: BeginFirst): Commit {
  const deps = { ...given, deadline: createDeadline(given) }
  const gate = new BatchGate<Waiting>({ ...BATCH_GATE_DEFAULTS, bytesOf: ({ bytes }) => bytes })

  let isDueSoon = false
  const start = (): void => {
    isDueSoon = false
    for (const batch of gate.due()) void run(batch)
  }
  // Requests that were read in the same turn of the event loop go together.
  const startSoon = (): void => {
    if (isDueSoon) return
    isDueSoon = true
    setImmediate(start)
  }
  const run = async (taken: readonly Waiting[]): Promise<void> => {
    const waiting = inTime(deps, taken)
    const first = waiting.some(isLimited) ? undefined : beginFirst?.(waiting.map(({ rows }) => rows))
    const batch =
      first === undefined ? waiting : waiting.map((one, index) => ({ ...one, rows: first.rows[index] ?? one.rows }))
    const server = deps.deadline.serverStart()
    const tried = await store(deps, batch)
    const started = first?.ended(tried === 'away' ? 'refused' : tried)
    // A fault of first attempts must refuse no event.
    const outcome = tried === 'refused' && first !== undefined ? await store(deps, waiting) : tried
    // The check takes seconds; the batches behind do not wait for it.
    gate.finished()
    startSoon()
    const known = outcome === 'unknown' ? await lookedFor(deps, { batch, server }) : outcome
    const answers = batch.map(({ event }, index) => {
      if (known === 'away') return away
      const answer = said(event, known === 'refused' ? undefined : known.verdicts[index])
      return answer.kind === 'stored' ? { ...answer, started } : answer
    })
    const lost = answers.filter((answer) => answer === unavailable || answer === away).length
    if (lost > 0) deps.log.warn('ingest.not_stored', { events: lost })
    for (const [index, { answer }] of batch.entries()) answer(answers[index] ?? unavailable)
  }

  return (event) =>
    new Promise((answer) => {
      const rows = rowsOf(deps, event)
      const taken = gate.enqueue({ event, rows, bytes: bytesOf(rows), since: deps.clock.now(), answer })
      if (taken === 'full') answer(overloaded)
      else startSoon()
    })
}

/** Returns the requests that did not wait too long for their batch, and answers the others. */
function inTime(deps: Deps, batch: readonly Waiting[]): readonly Waiting[] {
  const oldest = deps.clock.now() - WAIT_MS_MAX
  return batch.filter(({ since, answer }) => {
    if (since < oldest) answer(overloaded)
    return since >= oldest
  })
}

/** The answer to an event; without a verdict it is not stored, and there is no other answer. */
export function said(event: Routed, verdict: Verdict | undefined): Committed {
  if (verdict === undefined) return unavailable
  if (verdict !== 'admitted' && verdict.kind !== 'beyond_allowance') return verdict
  rememberDatasets(event)
  return { kind: 'stored', event: verdict === 'admitted' ? event : { ...event, deliveries: verdict.deliveries } }
}

/**
 * `refused`: certainly not committed, now or later. `away`: the same, because the database is away. `unknown`: the connection broke
 * while the answer was due.
 */
async function store(deps: Storing, batch: readonly Waiting[]): Promise<Batch | 'refused' | 'away' | 'unknown'> {
  if (batch.length === 0) return { verdicts: [], stored: new Set() }
  try {
    return await storeBatch(deps, batch)
  } catch (error) {
    const outcome = error instanceof DbError ? (error.undone ? 'away' : error.outcome) : 'refused'
    deps.retryLog.warn('ingest.commit_failed', { outcome, cause: error })
    return outcome
  }
}

/**
 * The connection broke while the commit was due. A backend that lost its client may still finish its statement, so this looks
 * for the rows for longer than a statement may take, or until PostgreSQL has started again, because then no earlier statement is
 * running. The batch is one commit: when any of its rows exist, all rows that it will ever store exist.
 */
async function lookedFor(deps: Storing, sent: Sent): Promise<Found | 'away' | 'refused'> {
  const until = deps.clock.now() + LOOKED_FOR_MS
  let found: Awaited<ReturnType<typeof look>> = 'refused'
  for (let pauseMs = 100; deps.clock.now() < until; pauseMs += 100) {
    // oxlint-disable-next-line no-await-in-loop -- one question at a time, each after a pause
    await new Promise<void>((resolve) => deps.clock.wakeAt(deps.clock.now() + pauseMs, resolve))
    // oxlint-disable-next-line no-await-in-loop -- as above
    found = await look(deps, sent).catch((cause: unknown) => {
      deps.retryLog.warn('ingest.commit_not_looked_up', { cause })
      return 'refused'
    })
    if (typeof found === 'object' || found === 'away') return found
  }
  // The last look reached the database, and nothing that was sent runs this long.
  return found === 'absent' ? 'away' : 'refused'
}

/** undefined: the event is not stored. */
type Found = { readonly verdicts: readonly (Verdict | undefined)[] }

type Sent = {
  readonly batch: readonly Waiting[]
  /** The start of the PostgreSQL server that the batch was sent to; undefined: not known. */
  readonly server: number | undefined
}

/** `absent`: there are no rows yet. `away`: there will be none, because PostgreSQL has started again. */
async function look({ database }: Storing, { batch, server }: Sent): Promise<Found | 'absent' | 'away' | 'refused'> {
  const asked = batch.map(({ rows: { workspaceId, projectId, submission } }) => ({
    workspaceId,
    projectId,
    id: submission.id,
  }))
  // The server is asked first: what it had not stored when it started again, it never stores.
  const { startedAt } = await serverTimes(database)
  const stored = await findStored(database, asked)
  if (stored.size > 0) return { verdicts: asked.map(({ id }) => (stored.has(id) ? 'admitted' : undefined)) }
  return server !== undefined && startedAt > server ? 'away' : 'absent'
}

function rememberDatasets(event: Routed): void {
  for (const record of event.records) event.verified.receiver.plan.datasets.add(record.dataset)
}
