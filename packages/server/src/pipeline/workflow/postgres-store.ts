import type { Deps } from '../../context.ts'
import { DbError, type Db } from '../../platform/db.ts'
import type { AcceptAll, Accepted } from '../accept.ts'
import { fromOrigin } from '../capture/from-origin.ts'
import type { Directory } from '../directory.ts'
import { claimInstances, claimSharedInstances, releaseInstances, type ClaimedRow } from './instances/queries.ts'
import { createLoader, type Loader } from './instances/load.ts'
import { settleRuns } from './instances/settle/queries.ts'
import type { InstanceRun } from './instance-run.ts'
import { movePaused } from './move-paused.ts'
import type { Emitted } from './instance.ts'
import type { Answer, Settled, StorePort } from './ports.ts'
import { createMatcher } from './waits/match.ts'

export type WorkflowStoreParts = {
  /** The road of events that no sender sent. */
  readonly acceptAll: AcceptAll
  readonly directory: Directory
  /** These lanes have new deliveries. */
  readonly lanes: (lanes: readonly { readonly workspaceId: string; readonly destinationId: string }[]) => void
}

/** Thrown inside the settling transaction: with these runs, events would be stored that no step sent. */
class ClaimsLost extends Error {
  readonly ids: ReadonlySet<string>
  constructor(ids: ReadonlySet<string>) {
    super('Claims were lost before their commit.')
    this.ids = ids
  }
}

const LEASE_MS = 60_000

/** The workflow machine's store on PostgreSQL. */
export function createWorkflowStore(deps: Deps, parts: WorkflowStoreParts): StorePort {
  const loader: Loader = createLoader(deps)
  const match = createMatcher(deps)
  // How many instances had room in memory. It doubles with each claim that leaves none.
  let fits = Infinity
  const answer = <T>(operation: keyof StorePort, work: () => Promise<T>): Promise<Answer<T>> =>
    answered(deps, operation, work)
  return {
    claim: (input) =>
      answer('claim', async () => {
        const now = deps.clock.now()
        const limit = Math.min(input.limit, fits)
        const at = { now: new Date(now), leaseUntil: new Date(now + input.lease_ms), limit }
        const { rows, more } = await (input.shared ? claimShared(deps.database, at) : claimOldest(deps.database, at))
        const { instances, left } = await loader.load(rows)
        if (left.length > 0) await releaseInstances(deps.database, left)
        fits = left.length > 0 ? Math.max(1, instances.length) : fits * 2
        return { instances, more: more || left.length > 0 }
      }),
    settle: (runs) => answer('settle', () => settle(deps, { parts, runs })),
    release: (held) =>
      answer('release', async () => {
        await releaseInstances(deps.database, held)
        return null
      }),
    match: () => answer('match', match),
    move: () => answer('move', () => movePaused(deps)),
  }
}

type ClaimAt = Parameters<typeof claimInstances>[1]
type ClaimedRows = { readonly rows: readonly ClaimedRow[]; readonly more: boolean }

async function claimOldest(db: Db, at: ClaimAt): Promise<ClaimedRows> {
  const rows = await claimInstances(db, at)
  return { rows, more: rows.length === at.limit }
}

async function claimShared(db: Db, at: ClaimAt): Promise<ClaimedRows> {
  const rows = await claimSharedInstances(db, at)
  return { rows, more: rows.some(({ behind }) => behind) }
}

/**
 * If the server refused the statement, nothing is committed. If the connection broke, it may be committed. The machine
 * tries again, and the log has one line a minute.
 */
// oxlint-disable-next-line max-params -- dependencies, the name of the operation, and the work
async function answered<T>(deps: Deps, operation: keyof StorePort, work: () => Promise<T>): Promise<Answer<T>> {
  try {
    return { outcome: 'done', value: await work() }
  } catch (cause) {
    const outcome = outcomeOf(cause)
    deps.retryLog.warn(`workflows.${operation}_failed`, { outcome, cause })
    return { outcome }
  }
}

function outcomeOf(cause: unknown): 'refused' | 'invalid' | 'unknown' {
  if (!(cause instanceof DbError)) return 'refused'
  return cause.outcome === 'refused' && !cause.unavailable ? 'invalid' : cause.outcome
}

type Settling = { readonly parts: WorkflowStoreParts; readonly runs: readonly InstanceRun[] }

/** If a run that emits has lost its claim, the whole batch is rolled back, and the others are settled without it. */
async function settle(deps: Deps, { parts, runs }: Settling): Promise<Settled> {
  const lost = new Set<string>()
  for (;;) {
    const left = runs.filter((run) => !lost.has(run.instance.id))
    try {
      // oxlint-disable-next-line no-await-in-loop -- an attempt starts only after the previous one was rolled back
      const settled = await settleOnce(deps, { parts, runs: left })
      return { more: settled.more, lost: [...lost, ...settled.lost] }
    } catch (error) {
      if (!(error instanceof ClaimsLost)) throw error
      for (const id of error.ids) lost.add(id)
    }
  }
}

async function settleOnce(deps: Deps, { parts, runs }: Settling): Promise<Settled> {
  if (runs.length === 0) return { more: [], lost: [] }
  const emitting = runs.filter((run) => run.emission !== undefined)
  const quiet = runs.filter((run) => run.emission === undefined)
  let ended: readonly InstanceRun[] = quiet
  let written: ReadonlySet<string> = new Set()
  const write = async (db: Db, all: readonly InstanceRun[]): Promise<void> => {
    const now = deps.clock.now()
    ended = all
    written = await settleRuns(db, { runs: all, now: new Date(now), leaseUntil: new Date(now + LEASE_MS) })
  }
  if (emitting.length === 0) await write(deps.database, quiet)
  else {
    await parts.acceptAll(emitting.map(capturedOf), async (tx, outcomes) => {
      const concluded = emitting.map((run, index) => run.emitted(emittedOf(outcomes[index])))
      await write(tx, [...quiet, ...concluded])
      const lost = emitting.map((run) => run.instance.id).filter((id) => !written.has(id))
      if (lost.length > 0) throw new ClaimsLost(new Set(lost))
    })
  }
  const kept = ended.filter((run) => written.has(run.instance.id))
  announce(parts, kept)
  return {
    more: kept.filter((run) => run.emission !== undefined).map((run) => run.continued()),
    lost: ended.filter((run) => !written.has(run.instance.id)).map((run) => run.instance.id),
  }
}

function capturedOf({ instance, emission, memory, now }: InstanceRun): ReturnType<typeof fromOrigin> {
  const { workspace_id: workspaceId, project_id: projectId, id, record } = instance
  return fromOrigin({
    workspaceId,
    projectId,
    dataset: emission?.dataset ?? '',
    origin: { kind: 'workflow', id },
    text: emission?.text ?? 'null',
    receivedAt: now,
    hops: record.hops + 1,
    root: record.root,
    chain: memory?.chain ?? null,
    customer: { id: emission?.customer },
  })
}

function emittedOf(outcome: Accepted | undefined): Emitted {
  if (outcome?.kind === 'stored') {
    const [record] = outcome.event.records
    if (record !== undefined) return { ok: true, record_id: record.id }
  }
  const reason = outcome?.kind === 'rejected' ? outcome.reason : 'storage_unavailable'
  const text = outcome?.kind === 'rejected' ? outcome.text : undefined
  return { ok: false, reason, message: text ?? `The event was refused: ${reason}.` }
}

function announce({ lanes }: WorkflowStoreParts, runs: readonly InstanceRun[]): void {
  const found = runs.flatMap(({ deliveries, instance }) =>
    deliveries
      .filter(({ pause_reason }) => pause_reason === null)
      .map(({ destination_id }) => ({ workspaceId: instance.workspace_id, destinationId: destination_id })),
  )
  if (found.length > 0) lanes(found)
}
