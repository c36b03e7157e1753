import { LIMITS, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { countOverdueInstances } from '../../automation/workflow-instances/overdue/index.ts'
import { registrationsToday } from '../../people/agent-accounts/index.ts'
import { stopwatch } from '../../../platform/clock.ts'
import { DbError } from '../../../platform/db.ts'
import { databaseNow } from '../../../platform/server-facts.ts'
import type { Room } from '../../verbs.ts'
import { countLanes, countMails, countOverdue, type OverdueRow } from './queries.ts'

type Health = RouteOutput<Routes['platformHealth']['get']>['health']

const max = LIMITS.healthCountMax
/** Longer than a request can last with its preparation, as in the doctor. */
const OVERDUE_MS = 120_000

/** The state of this process and of the database. Every count is bounded, so the page can be opened often. */
export const platformHealth: Room<'platformHealth'> = {
  get: async (ctx) => {
    const now = ctx.clock.now()
    const elapsed = stopwatch()
    await databaseNow(ctx.database)
    const answeredMs = elapsed()
    const lanes = await countLanes(ctx.db, { now: new Date(now), max })
    const waiting = await overdueOf(ctx, now)
    const health: Omit<Health, 'ok' | 'problems'> = {
      checked_at: new Date(now).toISOString(),
      database: { answered_in_ms: answeredMs },
      senders: lanes.senders,
      loops: ctx.loopRuns.list().map(({ name, lastRunAt, lastFailedAt, failing }) => ({
        name,
        last_run_at: timeOf(lastRunAt),
        last_failed_at: timeOf(lastFailedAt),
        failing,
      })),
      deliveries: {
        overdue: waiting?.overdue ?? 0,
        oldest_due_at: waiting?.oldest_due_at?.toISOString() ?? null,
      },
      lanes: { owned: lanes.owned, waiting: lanes.waiting },
      agent_registrations: await registrationsToday(ctx),
      mails: { waiting: await countMails(ctx.db, max) },
    }
    const instances = await countOverdueInstances(ctx.db, { dueBefore: new Date(now - OVERDUE_MS), max })
    const problems = problemsOf(health, {
      stalled: ctx.deliveryStalled(),
      unknown: waiting === undefined,
      instances: instances.overdue,
    })
    return { health: { ...health, ok: problems.length === 0, problems } }
  },
}

const CANCELED = '57014'

/** Undefined: the statement was canceled, because it had too many rows to read. */
async function overdueOf({ db }: Ctx, now: number): Promise<OverdueRow | undefined> {
  try {
    return await countOverdue(db, { dueBefore: new Date(now - OVERDUE_MS), max })
  } catch (error) {
    if (error instanceof DbError && error.code === CANCELED) return undefined
    throw error
  }
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString()
}

function problemsOf(
  { senders, loops, deliveries }: Pick<Health, 'senders' | 'loops' | 'deliveries'>,
  of: { stalled: ReturnType<Ctx['deliveryStalled']>; unknown: boolean; instances: number },
): string[] {
  const problems: string[] = []
  if (senders === 0) problems.push('No process with the role "deliver" is running. Start one.')
  if (of.stalled !== undefined)
    problems.push(
      `The delivery loop of this process has completed no ${of.stalled.call} since ${timeOf(of.stalled.since)}. Look for "delivery.${of.stalled.call}_failed" in its log.`,
    )
  if (deliveries.overdue > 0)
    problems.push(
      'Deliveries are due, but nothing starts them. Look for "delivery.turn_failed" and "delivery.lease_failed" in the logs of the processes that deliver.',
    )
  if (of.instances > 0)
    problems.push(
      'Workflow instances are due, but nothing runs them. Start a process with the role "work", or look for "workflows.claim_failed" in its log.',
    )
  if (of.unknown)
    problems.push('The check for overdue deliveries took too long, so the server stopped it. Run "postroad doctor".')
  for (const { name } of loops.filter(({ failing }) => failing))
    problems.push(`The background loop ${name} fails. Look for "${name}_failed" in the log of this process.`)
  return problems
}
