import { sql, type Db, type Sql } from './db.ts'

/** Facts that a PostgreSQL server reports about itself. */

/** Milliseconds since 1970 by the server's clock. */
export async function databaseNow(db: Db): Promise<number> {
  const { now } = await db.one<{ now: number }>(sql`select extract(epoch from clock_timestamp())::float8 * 1000 as now`)
  return now
}

/** Milliseconds since 1970 by the server's clock, and the start of the server. After another start, no earlier statement is running. */
export async function serverTimes(db: Db): Promise<{ readonly now: number; readonly startedAt: number }> {
  return db.one(sql`
    select extract(epoch from clock_timestamp())::float8 * 1000 as now,
           extract(epoch from pg_postmaster_start_time())::float8 * 1000 as "startedAt"
  `)
}

/**
 * Whether the statement that contains this condition started before `deadline` by the server's clock. If the backend was
 * suspended while the statement waited for it, the start is the time when the backend read it.
 */
export const begunBy = (deadline: Date): Sql => sql`statement_timestamp() < ${deadline}::timestamptz`

/** `server_version_num`: 180004 is 18.4. Throws when the server cannot be reached. */
export async function serverVersion(db: Db): Promise<number> {
  const { version } = await db.one<{ version: number }>(
    sql`select current_setting('server_version_num')::int as version`,
  )
  return version
}

const DURABLE: Readonly<Record<string, readonly string[]>> = {
  fsync: ['on'],
  full_page_writes: ['on'],
  synchronous_commit: ['on', 'remote_apply', 'remote_write', 'local'],
}

/** Settings under which a committed transaction can be lost, as `name=value`; empty when all is well. */
export async function unsafeSettings(db: Db): Promise<readonly string[]> {
  const rows = await db.many<{ name: string; setting: string }>(sql`
    select name, setting
      from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit')
  `)
  return rows
    .filter(({ name, setting }) => DURABLE[name]?.includes(setting) === false)
    .map(({ name, setting }) => `${name}=${setting}`)
}
