import { sql, type Db } from '../../platform/db.ts'

export type AuditRow = {
  readonly workspaceId: string
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly agent: string | null
  readonly action: string
  readonly target: string | null
  readonly ip: string | null
  readonly details: string
  readonly prevHash: Uint8Array | null
  readonly hash: Uint8Array
}

/** Takes the workspace's place at the end of its chain until the transaction ends, and gives the row to continue from. */
export async function lockChain(db: Db, workspaceId: string): Promise<{ readonly id: string; readonly hash: Buffer } | undefined> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended(${workspaceId}, 4680))`)
  return db.maybe<{ id: string; hash: Buffer }>(sql`
    select id, hash
      from audit_rows
     where workspace_id = ${workspaceId}
     order by id desc
     limit 1
  `)
}

export async function insertAuditRow(db: Db, row: AuditRow): Promise<void> {
  await db.run(sql`
    insert into audit_rows (workspace_id, id, at, actor, agent, action, target, ip, details, prev_hash, hash)
    values (${row.workspaceId}, ${row.id}, ${row.at}, ${row.actor}, ${row.agent}, ${row.action}, ${row.target},
            ${row.ip}, ${row.details}, ${row.prevHash}, ${row.hash})
  `)
}
