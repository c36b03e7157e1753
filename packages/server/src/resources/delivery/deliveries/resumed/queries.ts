import { sql, type Db } from '../../../../platform/db.ts'
import { MOVED_ROWS_MAX, reasonToWait } from '../queries.ts'

export type Canceled = {
  readonly workspaceId: string
  readonly projectId: string
  readonly destinationId: string
  /** The deletion of the destination canceled them from this time on, until it was restored. */
  readonly since: Date
  readonly until: Date
  readonly now: Date
  /** The plan limits the deliveries of a month, so a loop releases these as the month has room. */
  readonly limited: boolean
}

/**
 * Makes deliveries due again that the deletion of a destination canceled, one batch for each call. They retain their
 * places in an order and in their schedules. `more`: there may be further batches.
 */
export async function resumeCanceled(db: Db, at: Canceled): Promise<{ readonly more: boolean }> {
  const moved = await db.run(sql`
    update deliveries d
       set state = case when held.reason is not null then 'paused'
                        when d.attempt_count = 0 then 'pending'
                        else 'retrying' end,
           pause_reason = held.reason,
           next_trigger = case when held.reason is not null or d.attempt_count = 0 then d.next_trigger else 'resume' end,
           next_attempt_at = case when held.reason is null then ${at.now}::timestamptz end,
           updated_at = ${at.now}
      from destinations t
      join workspaces w on w.id = t.workspace_id
     ${reasonToWait}
     cross join lateral (select case when ${at.limited} then 'allowance_used' else why.reason end as reason) held
     where t.workspace_id = ${at.workspaceId}
       and t.id = ${at.destinationId}
       and d.workspace_id = t.workspace_id
       and d.project_id = ${at.projectId}
       and d.id = any (array(
             select c.id
               from deliveries c
              where c.workspace_id = ${at.workspaceId}
                and c.project_id = ${at.projectId}
                and c.destination_id = ${at.destinationId}
                and c.state in ('failed', 'cancelled')
                and c.state = 'cancelled'
                and c.updated_at >= ${at.since}
                and c.updated_at <= ${at.until}
              order by c.id
              limit ${MOVED_ROWS_MAX}
                for update
           ))
       and d.state = 'cancelled'
  `)
  return { more: moved === MOVED_ROWS_MAX }
}
