import { encodeId, LIMITS, type RouteOutput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { countOverdueInstances } from '../../automation/workflow-instances/overdue/index.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { fromOutbox, outbox } from '../../people/mails/index.ts'
import { auditInstallation } from '../operators/index.ts'
import { registrationsToday } from '../../people/agent-accounts/index.ts'
import { stopwatch } from '../../../platform/clock.ts'
import { DbError } from '../../../platform/db.ts'
import { databaseNow } from '../../../platform/server-facts.ts'
import type { Room } from '../../verbs.ts'
import { listTasks } from '../upkeep-tasks/index.ts'
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
      loops: ctx.loopRuns.list().map(({ name, lastRunAt, lastFailedAt, failing, failedRows }) => ({
        name,
        last_run_at: timeOf(lastRunAt),
        last_failed_at: timeOf(lastFailedAt),
        failing,
        failed_rows: failedRows,
      })),
      upkeep: (await listTasks(ctx.db)).map(({ last_run_at, last_succeeded_at, last_failed_at, ...task }) => ({
        ...task,
        last_run_at: last_run_at.toISOString(),
        last_succeeded_at: last_succeeded_at?.toISOString() ?? null,
        last_failed_at: last_failed_at?.toISOString() ?? null,
      })),
      deliveries: {
        overdue: waiting?.overdue ?? 0,
        oldest_due_at: waiting?.oldest_due_at?.toISOString() ?? null,
      },
      lanes: { owned: lanes.owned, waiting: lanes.waiting },
      agent_registrations: await registrationsToday(ctx),
      mails: {
        mode: ctx.mailer.kind,
        waiting: await countMails(ctx.db, max),
        outbox: (await outbox(ctx)).map(({ id, to, subject, created_at, expires_at }) => ({
          id: encodeId('mail', id),
          to,
          subject,
          created_at: created_at.toISOString(),
          expires_at: expires_at.toISOString(),
        })),
      },
    }
    const instances = await countOverdueInstances(ctx.db, { dueBefore: new Date(now - OVERDUE_MS), max })
    const problems = problemsOf(health, {
      stalled: ctx.deliveryStalled(),
      unknown: waiting === undefined,
      instances: instances.overdue,
    })
    return { health: { ...health, ok: problems.length === 0, problems } }
  },

  readMail: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const found = await fromOutbox(tx, id)
      if (found === undefined) throw refuse('not_found')
      const { to, subject, text } = found
      await auditInstallation(tx, { action: 'read_mail', target: encodeId('mail', id), details: { to, subject } })
      return { mail: { id: encodeId('mail', id), to, subject, text, link: /https?:\/\/\S+/.exec(text)?.[0] ?? null } }
    }),
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
  { senders, loops, upkeep, deliveries }: Pick<Health, 'senders' | 'loops' | 'upkeep' | 'deliveries'>,
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
  for (const { name, failures, last_error: error } of upkeep.filter((task) => task.failures > 0))
    problems.push(
      `The upkeep task ${name} has failed ${failures === 1 ? 'once' : `${failures} times in a row`}: ${error} Look for "upkeep.task_failed" in the log.`,
    )
  for (const { name, failed_rows: rows } of loops.filter((loop) => loop.failed_rows > 0))
    problems.push(
      `The background loop ${name} leaves out ${rows} ${rows === 1 ? 'row that fails' : 'rows that fail'}, and handles the others. Its log names ${rows === 1 ? 'it' : 'them'}.`,
    )
  for (const { name } of loops.filter(({ failing }) => failing))
    problems.push(`The background loop ${name} fails. Look for "${name}_failed" in the log of this process.`)
  return problems
}
