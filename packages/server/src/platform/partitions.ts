import { DbError, sql, statement, type Database, type Sql } from './db.ts'
import { uuidv7Floor } from './ids.ts'
import { SECURE_TABLES } from './row-security.ts'
import { separately } from './separately.ts'

const DAY_MS = 86_400_000
const DAYS_LOCK = 4_680_002

export type DayTable = { readonly name: string; readonly storage?: string }

/**
 * Creates the partitions of `tables` for the days around `now` (yesterday to `daysAhead`), each a range of UUIDv7 ids. If the
 * default partition already has rows of a day, that day stays there. Returns the names of the new partitions. A table that
 * fails stops none of the others.
 */
export async function makeDays(
  db: Database,
  tables: readonly DayTable[],
  at: { now: number; daysAhead: number },
): Promise<string[]> {
  const first = Math.floor(at.now / DAY_MS) - 1
  const known = new Set(
    (
      await db.many<{ name: string }>(sql`
    select c.relname as name
      from pg_inherits i
      join pg_class c on c.oid = i.inhrelid
  `)
    ).map((row) => row.name),
  )
  const made: string[] = []
  await separately(tables, async (table) => {
    const days = Array.from({ length: at.daysAhead + 2 }, (_none, index) => first + index)
    const missing = days.filter((day) => !known.has(partitionOf(table, day)))
    made.push(...(await makePartitions(db, table, missing)))
  })
  return made
}

/** In one transaction, unless the default partition has rows of one of these days. */
async function makePartitions(db: Database, table: DayTable, days: readonly number[]): Promise<readonly string[]> {
  if (days.length === 0) return []
  const isDone = await alone(db, [...days.map((day) => partition(table, day)), statement(SECURE_TABLES)]).then(
    () => true,
    isBegun,
  )
  if (isDone) return days.map((day) => partitionOf(table, day))
  if (days.length === 1) return []
  const made: string[] = []
  // oxlint-disable-next-line no-await-in-loop -- one lock at a time
  for (const day of days) made.push(...(await makePartitions(db, table, [day])))
  return made
}

const partitionOf = (table: DayTable, day: number): string => `${table.name}_${dayName(day)}`

function partition(table: DayTable, day: number): Sql {
  return statement(`
    create table if not exists ${partitionOf(table, day)} partition of ${table.name}
      for values from ('${uuidv7Floor(day * DAY_MS)}') to ('${uuidv7Floor((day + 1) * DAY_MS)}') ${table.storage ?? ''}
  `)
}

/**
 * Drops the days that ended more than `keepDays` ago, so that retention costs no delete. Returns the names of the dropped
 * partitions.
 */
export async function dropDays(
  db: Database,
  tables: readonly DayTable[],
  at: { now: number; keepDays: number },
): Promise<string[]> {
  const oldest = dayName(Math.floor(at.now / DAY_MS) - at.keepDays)
  const dropped: string[] = []
  await separately(tables, async (table) => {
    const days = await db.many<{ name: string }>(sql`
      select c.relname as name
        from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
       where i.inhparent = ${table.name}::regclass
         and c.relname ~ '_[0-9]{8}$'
    `)
    for (const { name } of days) {
      if (name.slice(-8) >= oldest) continue
      // oxlint-disable-next-line no-await-in-loop -- one lock at a time
      await alone(db, [statement(`drop table if exists ${name}`)])
      dropped.push(name)
    }
  })
  return dropped
}

/** Rows of that day are already in the default partition. Any other error is rethrown. */
function isBegun(error: unknown): false {
  if (error instanceof DbError && error.code === CHECK_VIOLATION) return false
  throw error
}

const CHECK_VIOLATION = '23514'
const LOCK_MS = 200
const LOCK_TRIES = 10

/**
 * Nodes that create or drop partitions at the same time would make each other fail, so only one does it at a time.
 * While a change waits for a transaction that uses the table, every other transaction waits behind the change. So it
 * waits only briefly and tries again.
 */
async function alone(db: Database, changes: readonly Sql[]): Promise<void> {
  for (let left = LOCK_TRIES; ; left -= 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one attempt after another
      return await db.transaction(async (tx) => {
        await tx.run(sql`select pg_advisory_xact_lock(${DAYS_LOCK})`)
        await tx.run(statement(`set local lock_timeout = ${LOCK_MS}`))
        for (const change of changes) await tx.run(change)
      })
    } catch (error) {
      if (left <= 1 || !(error instanceof DbError) || error.code !== LOCK_NOT_AVAILABLE) throw error
    }
  }
}

const LOCK_NOT_AVAILABLE = '55P03'

/** From the start of the first day to the end of the last day, as bounds of ids. */
export type Days = { readonly from: string; readonly to: string }

/** Yesterday, or more days before it, to tomorrow, because clocks need not agree about midnight. */
export function recentDays(now: Date, daysBefore = 0): Days {
  const today = Math.floor(now.getTime() / DAY_MS)
  return { from: uuidv7Floor((today - 1 - daysBefore) * DAY_MS), to: uuidv7Floor((today + 2) * DAY_MS) }
}

/**
 * The condition that an id is of these days, written into the statement. With literals, the plan does not contain the other
 * days. With parameters, PostgreSQL would skip them only at run time, after it has planned and locked a month of days. The text
 * lives for a day, and connections not much longer.
 */
export function isOfDays(column: string, { from, to }: Days): Sql {
  return statement(`${column} >= '${from}' and ${column} < '${to}'`)
}

const dayName = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')
