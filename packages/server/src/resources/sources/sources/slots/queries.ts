import { sql, type Db } from '../../../../platform/db.ts'
import { columns, type ClaimedSource, type StoredSlot } from '../queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string; readonly id: string }

/** `doomed`: its project is deleted, or its workspace is closed, so nothing may stay in the other database. */
export type ClaimedSlot = ClaimedSource & { readonly doomed: boolean }

/** Claims sources whose replication slot is due for a check, until `until`. It skips those of suspended workspaces. */
export function claimSlots(db: Db, at: { now: Date; until: Date; limit: number }): Promise<readonly ClaimedSlot[]> {
  // oxlint-disable-next-line house/tenant-statement -- the sources of all workspaces
  return db.many<ClaimedSlot>(sql`
    update sources s
       set slot_due_at = ${at.until}
      from (
             select d.workspace_id, d.project_id, d.id, p.deleted_at is not null or w.closed_at is not null as doomed
               from sources d
               join workspaces w on w.id = d.workspace_id
               join projects p on p.workspace_id = d.workspace_id and p.id = d.project_id
              where d.slot_due_at <= ${at.now}
                and (not w.halted or w.closed_at is not null or p.deleted_at is not null)
              order by d.slot_due_at
              limit ${at.limit}
                for update of d skip locked
           ) due
     where s.workspace_id = due.workspace_id
       and s.project_id = due.project_id
       and s.id = due.id
    returning s.workspace_id, s.project_id, due.doomed, ${columns}
  `)
}

/** Stores the observed state of a slot. */
export function storeSlot(db: Db, row: At & { slot: StoredSlot; dueAt: Date }): Promise<number> {
  return db.run(sql`
    update sources
       set slot = ${JSON.stringify(row.slot)},
           slot_due_at = ${row.dueAt}
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
  `)
}

/** The slot was dropped, so it is no longer checked. The position stays: a source that comes back reports its gap. */
export function forgetSlot(db: Db, at: At): Promise<number> {
  return db.run(sql`
    update sources
       set slot = null,
           slot_due_at = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}

/** Ends the run under way, and lets no process start another one. */
export function stopSource(db: Db, at: At & { now: Date }): Promise<number> {
  return db.run(sql`
    update sources
       set enabled = false,
           disabled_reason = 'by_hand',
           disabled_at = ${at.now},
           fence = fence + 1,
           owner = null,
           lease_until = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
  `)
}
