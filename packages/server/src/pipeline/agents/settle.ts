import { LIMITS } from '@postroad/contract'
import type { Db } from '../../platform/db.ts'
import {
  countTokens,
  endRun,
  holdRun,
  insertRunStep,
  requeueRun,
  type ClaimedRun,
  type NewStep,
  type RunEnd,
  type RunError,
  type UsedTokens,
} from '../../resources/automation/ai-runs/queries.ts'
import type { Accepted } from '../accept.ts'
import { fromOrigin } from '../capture/from-origin.ts'
import type { AgentDeps } from './ports.ts'

/** Longer than any call of a model and its commit. */
export const LEASE_MS = (LIMITS.agentTimeoutSecondsMax + 60) * 1_000

/** Another process has the run, or it was canceled or paused: this process commits nothing more of it. */
export class RunLost extends Error {
  override readonly name = 'RunLost'
}

async function hold({ clock }: AgentDeps, tx: Db, run: ClaimedRun): Promise<Date> {
  const now = new Date(clock.now())
  if (!(await holdRun(tx, run, { now, until: new Date(now.getTime() + LEASE_MS) }))) throw new RunLost()
  return now
}

/** Commits a step, with the tokens that it took. */
export function addStep(deps: AgentDeps, run: ClaimedRun, step: NewStep): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const now = await hold(deps, tx, run)
    await insertRunStep(tx, run, { step, agentId: run.agent_id, now })
  })
}

/** Counts the tokens of an answer that is not a step. */
export function addTokens(deps: AgentDeps, run: ClaimedRun, used: UsedTokens): Promise<void> {
  return deps.database.transaction(async (tx) => {
    const now = await hold(deps, tx, run)
    await countTokens(tx, run, { used, agentId: run.agent_id, now })
  })
}

export type Emitted = { readonly dataset: string; readonly data: unknown }

/** Stores a tool's record and step in one commit, so a run that continues after a crash stores no record twice. */
export async function emit(
  deps: AgentDeps,
  run: ClaimedRun,
  { event, stepOf }: { event: Emitted; stepOf: (outcome: Accepted | undefined) => NewStep },
): Promise<void> {
  await deps.acceptAll([made(deps, run, event)], async (tx, [outcome]) => {
    const now = await hold(deps, tx, run)
    await insertRunStep(tx, run, { step: stepOf(outcome), agentId: run.agent_id, now })
  })
}

/** Ends a run, with the record of its output if there is one. An output that cannot be stored fails the run. */
export async function end(
  deps: AgentDeps,
  run: ClaimedRun,
  { end: ended, record }: { end: RunEnd; record: Emitted | undefined },
): Promise<void> {
  const captured = record === undefined ? [] : [made(deps, run, record)]
  await deps.acceptAll(captured, async (tx, [outcome]) => {
    const now = new Date(deps.clock.now())
    const isRefused = outcome !== undefined && outcome.kind === 'rejected'
    const error = isRefused
      ? {
          reason: 'output_not_stored',
          error: `The output cannot be stored as a record: ${outcome.text ?? outcome.reason}`,
        }
      : ended.error
    if (!(await endRun(tx, run, { end: isRefused ? { ...ended, state: 'failed', error } : ended, now })))
      throw new RunLost()
  })
}

/** Schedules another attempt at the run, or fails the run when it has no attempt left. */
export async function retryLater(
  deps: AgentDeps,
  run: ClaimedRun,
  { error, afterMs }: { error: RunError; afterMs: number | undefined },
): Promise<void> {
  if (run.attempt >= LIMITS.agentRetriesMax)
    return end(deps, run, { end: { state: 'failed', output: null, error }, record: undefined })
  const now = deps.clock.now()
  const pauseMs = Math.max(afterMs ?? 0, BACKOFF_MS * 2 ** (run.attempt - 1) * (0.8 + 0.4 * deps.random()))
  await requeueRun(deps.database, run, {
    dueAt: new Date(now + pauseMs),
    error,
    countsAttempt: true,
    hasSlot: true,
    now: new Date(now),
  })
}

const BACKOFF_MS = 2_000

function made({ clock }: AgentDeps, run: ClaimedRun, { dataset, data }: Emitted) {
  return fromOrigin({
    workspaceId: run.workspace_id,
    projectId: run.project_id,
    dataset,
    origin: { kind: 'ai_run', id: run.id },
    text: JSON.stringify(data),
    receivedAt: clock.now(),
    hops: run.hops + 1,
    root: run.root_id,
  })
}
