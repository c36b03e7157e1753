import type { StoredLink } from '../../../domain/workspace/audit-chain.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'

export type AuditRow = StoredLink

const columns: Sql = sql`id, at, actor, agent, action, target, ip, details, prev_hash, hash`

/** The sealed anchor of a chain, locked until the transaction ends, so there is one writer at a time. Null: nothing is written yet. */
export async function lockAnchor(db: Db, workspaceId: string): Promise<Buffer | null> {
  const held = await lockedAnchor(db, workspaceId)
  if (held !== undefined) return held.sealed
  await db.run(sql`
    insert into audit_anchors (workspace_id)
    values (${workspaceId})
        on conflict (workspace_id) do nothing
  `)
  return (await lockedAnchor(db, workspaceId))?.sealed ?? null
}

function lockedAnchor(db: Db, workspaceId: string): Promise<{ sealed: Buffer | null } | undefined> {
  return db.maybe<{ sealed: Buffer | null }>(sql`
    select sealed
      from audit_anchors
     where workspace_id = ${workspaceId}
       for update
  `)
}

export async function findAnchor(db: Db, workspaceId: string): Promise<Buffer | null> {
  const found = await db.maybe<{ sealed: Buffer | null }>(sql`
    select sealed
      from audit_anchors
     where workspace_id = ${workspaceId}
  `)
  return found?.sealed ?? null
}

export async function putAnchor(db: Db, at: { workspaceId: string; sealed: Uint8Array }): Promise<void> {
  await db.run(sql`
    update audit_anchors
       set sealed = ${at.sealed}
     where workspace_id = ${at.workspaceId}
  `)
}

/** Writes the row and its anchor in one statement. */
export async function appendRow(
  db: Db,
  row: AuditRow & { readonly workspaceId: string; readonly sealed: Uint8Array },
): Promise<void> {
  await db.run(sql`
    with anchored as (
           update audit_anchors
              set sealed = ${row.sealed}
            where workspace_id = ${row.workspaceId}
         )
    insert into audit_rows (workspace_id, id, at, actor, agent, action, target, ip, details, prev_hash, hash)
    values (${row.workspaceId}, ${row.id}, ${row.at}, ${row.actor}, ${row.agent}, ${row.action}, ${row.target},
            ${row.ip}, ${row.details}, ${row.prev_hash}, ${row.hash})
  `)
}

/** The ends of a chain according to its rows: their number, the hash that the oldest one continues, and the newest one. */
export type Ends = { readonly count: number; readonly tail: Buffer | null; readonly id: string; readonly hash: Buffer }

/** Undefined: the chain has no rows. */
export function findEnds(db: Db, workspaceId: string): Promise<Ends | undefined> {
  return db.maybe<Ends>(sql`
    select newest.id, newest.hash,
           (select count(*) from audit_rows where workspace_id = ${workspaceId}) as count,
           (select prev_hash from audit_rows where workspace_id = ${workspaceId} order by id limit 1) as tail
      from (
             select id, hash
               from audit_rows
              where workspace_id = ${workspaceId}
              order by id desc
              limit 1
           ) newest
  `)
}

export type AuditFilter = {
  readonly actor?: string | undefined
  readonly agent?: string | undefined
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export type AuditAt = AuditFilter & {
  readonly workspaceId: string
  readonly before: string | null
  readonly limit: number
}

/** Newest first. An id is never older than its row, so `from` bounds the ids too. */
export function listRows(db: Db, at: AuditAt): Promise<readonly AuditRow[]> {
  return db.many<AuditRow>(sql`
    select ${columns}
      from audit_rows
     where workspace_id = ${at.workspaceId}
       ${at.actor === undefined ? sql`` : sql`and actor = ${at.actor}`}
       ${at.agent === undefined ? sql`` : sql`and agent = ${at.agent}`}
       ${at.action === undefined ? sql`` : sql`and action = ${at.action}`}
       ${at.target === undefined ? sql`` : sql`and target = ${at.target}`}
       ${at.from === undefined ? sql`` : sql`and at >= ${at.from} and id >= ${uuidv7Floor(at.from.getTime())}`}
       ${at.to === undefined ? sql`` : sql`and at < ${at.to}`}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
     order by id desc
     limit ${at.limit}
  `)
}

/** The chain after a row, oldest first; null: from its start. */
export function listChain(
  db: Db,
  at: { workspaceId: string; after: string | null; limit: number },
): Promise<readonly AuditRow[]> {
  return db.many<AuditRow>(sql`
    select ${columns}
      from audit_rows
     where workspace_id = ${at.workspaceId}
       ${at.after === null ? sql`` : sql`and id > ${at.after}`}
     order by id
     limit ${at.limit}
  `)
}

export async function hasHash(db: Db, at: { workspaceId: string; hash: Uint8Array }): Promise<boolean> {
  const found = await db.maybe(sql`
    select id
      from audit_rows
     where workspace_id = ${at.workspaceId}
       and hash = ${at.hash}
     limit 1
  `)
  return found !== undefined
}

/** Workspaces with rows from before a time, and their plans; null: the workspace was deleted. */
export async function chainsWithRowsBefore(
  db: Db,
  before: Date,
): Promise<readonly { readonly workspaceId: string; readonly plan: string | null }[]> {
  const rows = await db.many<{ workspace_id: string; plan: string | null }>(sql`
    select a.workspace_id, w.plan
      from audit_anchors a
      left join workspaces w on w.id = a.workspace_id
     cross join lateral (
             select at
               from audit_rows r
              where r.workspace_id = a.workspace_id
              order by r.id
              limit 1
           ) oldest
     where oldest.at < ${before}
  `)
  return rows.map((row) => ({ workspaceId: row.workspace_id, plan: row.plan }))
}

/** Removes the start of a chain, up to and including a row. */
export function deleteChainUpTo(db: Db, at: { workspaceId: string; last: string }): Promise<number> {
  return db.run(sql`
    delete from audit_rows
     where workspace_id = ${at.workspaceId}
       and id <= ${at.last}
  `)
}

/** Every workspace that has a chain or had an anchor. */
export async function listChains(db: Db): Promise<readonly string[]> {
  const rows = await db.many<{ workspace_id: string }>(sql`
    select workspace_id from audit_anchors
     union
    select workspace_id from audit_rows
     order by workspace_id
  `)
  return rows.map((row) => row.workspace_id)
}
