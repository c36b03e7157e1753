import { sql, type Db } from '../../../../platform/db.ts'

export type OverdueInstancesRow = { readonly overdue: number; readonly oldest_due_at: Date | null }

/** Instances that have been due since before this time, and that nothing holds back. Counts at most `max`. */
export function countOverdueInstances(db: Db, at: { dueBefore: Date; max: number }): Promise<OverdueInstancesRow> {
  // oxlint-disable-next-line house/tenant-statement -- the due instances of all workspaces
  return db.one<OverdueInstancesRow>(sql`
    select count(*)::int as overdue, min(due_at) as oldest_due_at
      from (
             select i.due_at
               from workflow_instances i
              where i.due_at <= ${at.dueBefore}
                and i.paused_at is null
                and (i.lease_until is null or i.lease_until <= ${at.dueBefore})
                and not exists (select 1 from workflow_pauses p where p.workspace_id = i.workspace_id)
              order by i.due_at
              limit ${at.max}
           ) found
  `)
}
