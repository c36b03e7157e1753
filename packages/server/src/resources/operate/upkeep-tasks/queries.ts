import { sql, type Db } from '../../../platform/db.ts'

export type TaskRow = {
  readonly name: string
  readonly last_run_at: Date
  readonly duration_ms: number
  /** The rows or tables that the last successful run created, deleted or counted. */
  readonly changed: number
  readonly last_succeeded_at: Date | null
  /** In a row; 0: the last run succeeded. */
  readonly failures: number
  readonly last_failed_at: Date | null
  readonly last_error: string | null
}

type Run = { readonly name: string; readonly at: Date; readonly durationMs: number } & (
  | { readonly changed: number; readonly error: null }
  | { readonly changed: null; readonly error: string }
)

export async function putRun(db: Db, { name, at, durationMs, changed, error }: Run): Promise<void> {
  const [succeededAt, failedAt] = error === null ? [at, null] : [null, at]
  await db.run(sql`
    insert into upkeep_tasks as t
           (name, last_run_at, duration_ms, changed, last_succeeded_at, failures, last_failed_at, last_error)
    values (${name}, ${at}, ${durationMs}, coalesce(${changed}, 0), ${succeededAt}, ${error === null ? 0 : 1}, ${failedAt}, ${error})
        on conflict (name) do update
       set last_run_at = excluded.last_run_at,
           duration_ms = excluded.duration_ms,
           changed = coalesce(${changed}, t.changed),
           last_succeeded_at = coalesce(excluded.last_succeeded_at, t.last_succeeded_at),
           failures = case when excluded.failures = 0 then 0 else t.failures + 1 end,
           last_failed_at = coalesce(excluded.last_failed_at, t.last_failed_at),
           last_error = coalesce(excluded.last_error, t.last_error)
  `)
}

/** Deletes the runs of tasks that this version does not have. */
export async function deleteOtherTasks(db: Db, names: readonly string[]): Promise<number> {
  return db.run(sql`delete from upkeep_tasks where name <> all (${names}::text[])`)
}

export function listTasks(db: Db): Promise<readonly TaskRow[]> {
  return db.many<TaskRow>(sql`
    select name, last_run_at, duration_ms, changed::float8 as changed, last_succeeded_at, failures, last_failed_at, last_error
      from upkeep_tasks
     order by name
  `)
}
