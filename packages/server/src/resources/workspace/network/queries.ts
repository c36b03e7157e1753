import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type NetworkRow = {
  readonly ip_allowlist: readonly string[]
  readonly updated_at: Date
  readonly updated_by: string | null
}

const columns: Sql = sql`ip_allowlist, updated_at, updated_by`

/** Undefined: no list was saved yet. */
export function findNetwork(db: Db, workspaceId: string): Promise<NetworkRow | undefined> {
  return db.maybe<NetworkRow>(sql`
    select ${columns}
      from network_access
     where workspace_id = ${workspaceId}
  `)
}

export function putNetwork(
  db: Db,
  row: { workspaceId: string; list: readonly string[]; now: Date; userId: string | null },
): Promise<NetworkRow> {
  return db.one<NetworkRow>(sql`
    insert into network_access (workspace_id, ip_allowlist, updated_at, updated_by)
    values (${row.workspaceId}, ${row.list}::text[], ${row.now}, ${row.userId})
        on conflict (workspace_id) do update
       set ip_allowlist = excluded.ip_allowlist,
           updated_at = excluded.updated_at,
           updated_by = excluded.updated_by
    returning ${columns}
  `)
}

/** Empties the list; 0 when it was empty. */
export function clearList(db: Db, at: { workspaceId: string; now: Date }): Promise<number> {
  return db.run(sql`
    update network_access
       set ip_allowlist = '{}',
           updated_at = ${at.now},
           updated_by = null
     where workspace_id = ${at.workspaceId}
       and ip_allowlist <> '{}'
  `)
}
