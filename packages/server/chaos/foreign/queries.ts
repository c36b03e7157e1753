import { sql, type Db } from '../../src/platform/db.ts'

/** The names of sources that have not started. */
export function sourcesWithoutPosition(
  db: Db,
  at: { workspaceId: string },
): Promise<readonly { readonly name: string }[]> {
  return db.many(sql`
    select name
      from sources
     where workspace_id = ${at.workspaceId}
       and kind = 'postgres_replication'
       and position is null
  `)
}

/** The errors of sources that fail. */
export function failingSources(db: Db, at: { workspaceId: string }): Promise<readonly { readonly error: string }[]> {
  return db.many(sql`
    select name || ': ' || (last_error ->> 'error') as error
      from sources
     where workspace_id = ${at.workspaceId}
       and failing_since is not null
  `)
}

export type ChangeRow = { readonly operation: string; readonly n: number }

/** The changes that a source has filed into a dataset, in the order of their records. */
export function filedChanges(db: Db, at: { workspaceId: string; dataset: string }): Promise<readonly ChangeRow[]> {
  return db.many<ChangeRow>(sql`
    select s.body::json ->> 'operation' as operation, (s.body::json -> 'row' ->> 'n')::int as n
      from submissions s
      join records r
        on r.workspace_id = s.workspace_id
       and r.project_id = s.project_id
       and r.submission_id = s.id
     where s.workspace_id = ${at.workspaceId}
       and r.dataset = ${at.dataset}
     order by r.id
  `)
}

export type ItemRow = { readonly n: number; readonly done: boolean }

/** The table of the foreign database. */
export async function makeItems(db: Db): Promise<void> {
  await db.run(
    sql`create table items (n integer primary key, event text not null, done boolean not null default false)`,
  )
}

/** Adds rows in one transaction. A repetition adds none. */
export async function addItems(db: Db, rows: { dataset: string; from: number; to: number }): Promise<void> {
  await db.run(sql`
    insert into items (n, event)
    select n, ${`${rows.dataset}-`}::text || n
      from generate_series(${rows.from}::int, ${rows.to}::int) n
        on conflict do nothing
  `)
}

export async function finishItem(db: Db, n: number): Promise<void> {
  await db.run(sql`update items set done = true where n = ${n} and not done`)
}

export function listItems(db: Db): Promise<readonly ItemRow[]> {
  return db.many<ItemRow>(sql`select n, done from items order by n`)
}
