import { encodeId } from '@postroad/contract'
import { nextRun } from '../../domain/sources/cron-schedule.ts'
import {
  listDueCronTriggers,
  settleCronRun,
  type DueCronTrigger,
} from '../../resources/sources/cron-triggers/queries.ts'
import { SeparateRows, type LoopWork } from '../../platform/separate-rows.ts'
import { fromOrigin } from '../capture/from-origin.ts'
import { refusalOf } from './outcome.ts'
import { Overtaken, type SourceDeps } from './ports.ts'

const AT_ONCE = 100
/** Bounds one run of the loop, so that a process stops soon when asked. */
const ROUNDS_MAX = 20

/**
 * Runs the cron triggers whose time has come. The event and the next time are one commit, and the fence of the row lets one
 * process through. A trigger that missed several times runs once.
 */
export async function fireCronTriggers(deps: SourceDeps): Promise<LoopWork> {
  const rows = new SeparateRows(deps.retryLog, 'cron_trigger.not_fired')
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- round after round
    const due = await listDueCronTriggers(deps.database, {
      now: new Date(deps.clock.now()),
      without: rows.failed,
      limit: AT_ONCE,
    })
    for (const trigger of due)
      // oxlint-disable-next-line no-await-in-loop -- one trigger at a time: they must not crowd out senders
      await rows.run({ kind: 'cronTrigger', id: trigger.id }, () => fireOrSkip(deps, trigger))
    if (due.length < AT_ONCE) break
  }
  return rows.outcome
}

/** If it throws, the row has not changed, so the next run of the loop tries again. */
async function fireOrSkip(deps: SourceDeps, trigger: DueCronTrigger): Promise<void> {
  try {
    await (trigger.halted ? skip(deps, trigger) : fire(deps, trigger))
  } catch (cause) {
    if (!(cause instanceof Overtaken)) throw cause
  }
}

/** A suspended workspace skips its runs, so a reinstatement does not catch up with them. */
async function skip({ database, clock }: SourceDeps, trigger: DueCronTrigger): Promise<void> {
  await settleCronRun(database, {
    ...keyOf(trigger),
    next_at: nextOf(trigger, clock.now()),
    ran: undefined,
    error: null,
  })
}

async function fire({ acceptAll, clock }: SourceDeps, trigger: DueCronTrigger): Promise<void> {
  const now = clock.now()
  const firedAt = new Date(now)
  const scheduledFor = isDue(trigger, now) ? trigger.next_at : firedAt
  const event = fromOrigin({
    workspaceId: trigger.workspace_id,
    projectId: trigger.project_id,
    dataset: trigger.dataset,
    origin: { kind: 'cron_trigger', id: trigger.id },
    text: payloadOf(trigger, { scheduledFor, firedAt }),
    receivedAt: now,
  })
  await acceptAll([event], async (tx, [outcome]) => {
    const error = refusalOf(outcome, firedAt)
    const changed = await settleCronRun(tx, {
      ...keyOf(trigger),
      next_at: nextOf(trigger, now),
      ran: error === undefined ? { scheduledFor, firedAt } : undefined,
      error: error ?? null,
    })
    if (changed === 0) throw new Overtaken()
  })
}

function isDue(trigger: DueCronTrigger, now: number): trigger is DueCronTrigger & { readonly next_at: Date } {
  return trigger.enabled && trigger.next_at !== null && trigger.next_at.getTime() <= now
}

/** A run that a person requested does not move the schedule. */
function nextOf(trigger: DueCronTrigger, now: number): Date | null {
  return isDue(trigger, now) ? nextRun(trigger, now) : trigger.next_at
}

const keyOf = ({ workspace_id, project_id, id, fence }: DueCronTrigger) => ({
  workspaceId: workspace_id,
  projectId: project_id,
  id,
  fence,
})

function payloadOf(
  { id, data }: DueCronTrigger,
  { scheduledFor, firedAt }: { scheduledFor: Date; firedAt: Date },
): string {
  const head = JSON.stringify({
    trigger_id: encodeId('cronTrigger', id),
    scheduled_for: scheduledFor.toISOString(),
    fired_at: firedAt.toISOString(),
  })
  return data === null ? head : `${head.slice(0, -1)},"data":${data}}`
}
