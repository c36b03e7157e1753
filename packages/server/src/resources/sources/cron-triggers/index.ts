import { encodeId, LIMITS } from '@postroad/contract'
import { parseStoredJson } from '../../../domain/json/json-text.ts'
import { nextRun, nextRuns, validateSchedule, type CronSchedule } from '../../../domain/sources/cron-schedule.ts'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { afterCursor, readPage } from '../../page.ts'
import type { Room } from '../../verbs.ts'
import { audit } from '../../workspace/audit/index.ts'
import { lockProject } from '../../workspace/projects/index.ts'
import {
  countCronTriggers,
  deleteCronTrigger,
  findCronTrigger,
  insertCronTrigger,
  listCronTriggers,
  requestRun,
  updateCronTrigger,
  type CronTriggerRow,
} from './queries.ts'

const present = ({ next_at, last_run_at, last_scheduled_for, data, ...row }: CronTriggerRow) => ({
  ...row,
  id: encodeId('cronTrigger', row.id),
  data: data === null ? null : valueOf(data),
  next_run_at: next_at?.toISOString() ?? null,
  run_requested_at: row.run_requested_at?.toISOString() ?? null,
  last_run:
    last_run_at === null || last_scheduled_for === null
      ? null
      : { scheduled_for: last_scheduled_for.toISOString(), fired_at: last_run_at.toISOString() },
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

/** A long number stays as it was sent, because a client may send back what it reads. */
function valueOf(text: string): unknown {
  const parsed = parseStoredJson(text)
  return parsed.ok ? parsed.value : null
}

const presentOne = (ctx: Ctx, row: CronTriggerRow) => ({
  cron_trigger: present(row),
  next_runs: runsOf(ctx, row),
})

const runsOf = (ctx: Ctx, schedule: CronSchedule): string[] =>
  nextRuns(schedule, { after: ctx.clock.now(), count: LIMITS.cronRunsShown }).map((run) => run.toISOString())

function checkSchedule(ctx: Ctx, schedule: CronSchedule): void {
  const why = validateSchedule(schedule, ctx.clock.now())
  if (why !== undefined) throw refuse('invalid_request', why)
}

/** The JSON text of `data`; null: none. */
function stored(data: unknown): string | null {
  if (data === undefined || data === null) return null
  const text = JSON.stringify(data)
  if (text.length > LIMITS.cronDataCharsMax)
    throw refuse('invalid_request', `data can have at most ${LIMITS.cronDataCharsMax} characters. Send less.`)
  return text
}

export const cronTriggers: Room<'cronTriggers'> = {
  list: async (ctx, { limit, cursor }) => {
    const before = afterCursor(cursor)
    const { rows, next_cursor } = await readPage(ctx.db, {
      limit,
      list: (db, most) => listCronTriggers(db, { ...ctx, before, limit: most }),
    })
    return { cron_triggers: rows.map(present), next_cursor }
  },

  create: (ctx, { data, ...input }) => {
    checkSchedule(ctx, input)
    const text = stored(data)
    return inTransaction(ctx, async (tx) => {
      await lockProject(tx.db, tx)
      if ((await countCronTriggers(tx.db, tx)) >= LIMITS.cronTriggersPerProjectMax) throw refuse('source_limit_reached')
      const now = tx.clock.now()
      const row = await insertCronTrigger(tx.db, {
        ...tx,
        ...input,
        data: text,
        id: tx.uuid(),
        next_at: input.enabled ? nextRun(input, now) : null,
        now: new Date(now),
      })
      if (row === undefined) throw refuse('name_taken')
      const { name, expression, time_zone, dataset } = row
      await audit(tx, {
        action: 'create_cron_trigger',
        target: encodeId('cronTrigger', row.id),
        details: { name, expression, time_zone, dataset },
        change: { before: null, after: present(row) },
      })
      return presentOne(tx, row)
    })
  },

  preview: (ctx, schedule) => {
    checkSchedule(ctx, schedule)
    return Promise.resolve({ next_runs: runsOf(ctx, schedule) })
  },

  get: async (ctx, { id }) => {
    const row = await findCronTrigger(ctx.db, { ...ctx, id })
    if (row === undefined) throw refuse('not_found')
    return presentOne(ctx, row)
  },

  update: (ctx, { id, data, ...change }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findCronTrigger(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      const wanted = { ...held, ...given, ...(data === undefined ? {} : { data: stored(data) }) }
      checkSchedule(tx, wanted)
      const now = tx.clock.now()
      const row = await updateCronTrigger(tx.db, {
        ...tx,
        ...wanted,
        next_at: nextAfterChange({ held, wanted, now }),
        now: new Date(now),
      })
      if (row === undefined) throw refuse('name_taken')
      const changed = [...Object.keys(given), ...(data === undefined ? [] : ['data'])]
      await audit(tx, {
        action: 'update_cron_trigger',
        target: encodeId('cronTrigger', id),
        details: { changed },
        change: { before: present(held), after: present(row) },
      })
      return presentOne(tx, row)
    }),

  run: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const row = await requestRun(tx.db, { ...tx, id, now: new Date(tx.clock.now()) })
      if (row === undefined) throw refuse('not_found')
      await audit(tx, { action: 'run_cron_trigger', target: encodeId('cronTrigger', id) })
      return presentOne(tx, row)
    }),

  remove: (ctx, { id }) =>
    inTransaction(ctx, async (tx) => {
      const held = await findCronTrigger(tx.db, { ...tx, id, lock: true })
      if (held === undefined) throw refuse('not_found')
      await deleteCronTrigger(tx.db, { ...tx, id })
      await audit(tx, {
        action: 'delete_cron_trigger',
        target: encodeId('cronTrigger', id),
        change: { before: present(held), after: null },
      })
      return { ok: true }
    }),
}

/** A change to settings other than the schedule does not move the next run. */
function nextAfterChange({
  held,
  wanted,
  now,
}: {
  held: CronTriggerRow
  wanted: CronTriggerRow
  now: number
}): Date | null {
  if (!wanted.enabled) return null
  const isSame = held.enabled && held.expression === wanted.expression && held.time_zone === wanted.time_zone
  return isSame ? held.next_at : nextRun(wanted, now)
}
