import { sql, type Db } from '../../../../platform/db.ts'
import { keepOrphans } from '../../lanes/index.ts'
import { reasonToWait, startedAfresh } from '../queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string; readonly id: string; readonly now: Date }
type Moved = { readonly destination_id: string }

/** Makes an ended delivery due with a new schedule, behind all others with its key, or paused while it may not be sent; undefined when it has not ended. */
export function replayDelivery(db: Db, at: At): Promise<Moved | undefined> {
  return db.maybe<Moved>(sql`
    update deliveries d
       set state = case when why.reason is null then 'pending' else 'paused' end,
           ${startedAfresh},
           replay_id = null,
           next_attempt_at = case when why.reason is null then ${at.now}::timestamptz end,
           updated_at = ${at.now}
      from destinations t
      join workspaces w on w.id = t.workspace_id
     ${reasonToWait}
     where d.workspace_id = ${at.workspaceId}
       and d.project_id = ${at.projectId}
       and d.id = ${at.id}
       and d.state in ('delivered', 'failed', 'cancelled')
       and t.workspace_id = d.workspace_id
       and t.project_id = d.project_id
       and t.id = d.destination_id
    returning d.destination_id
  `)
}

/** Makes a waiting delivery due immediately; undefined when it does not wait. A first attempt stays `initial`. */
export function retryDelivery(db: Db, at: At): Promise<Moved | undefined> {
  return db.maybe<Moved>(sql`
    update deliveries
       set next_trigger = case when state = 'retrying' then 'manual' else next_trigger end,
           next_attempt_at = least(next_attempt_at, ${at.now}),
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state in ('pending', 'retrying')
    returning destination_id
  `)
}

/** Cancels a delivery that is not being sent; undefined when it is being sent or has ended. */
export function cancelWaiting(db: Db, at: At): Promise<Moved | undefined> {
  return db.maybe<Moved>(sql`
    update deliveries
       set state = 'cancelled',
           pause_reason = null,
           next_attempt_at = null,
           updated_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and state in ('pending', 'retrying', 'paused')
    returning destination_id
  `)
}

/**
 * Cancels a delivery that is being sent. It locks the attempt first, as a turn does, so there is no deadlock, and no turn
 * moves the delivery while its attempt is locked. The request continues as an orphan, which the next owner of the lane counts.
 */
export function cancelSending(db: Db, at: At): Promise<Moved | undefined> {
  return db.maybe<Moved>(sql`
    with orphan as (
           update delivery_attempts
              set outcome = 'interrupted'
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and delivery_id = ${at.id}
              and outcome is null
           returning workspace_id, project_id, delivery_id, destination_id, id as attempt_id, started_at
         ), kept as (${keepOrphans}
         )
    update deliveries d
       set state = 'cancelled',
           pause_reason = null,
           next_attempt_at = null,
           updated_at = ${at.now}
      from orphan
     where d.workspace_id = orphan.workspace_id
       and d.project_id = orphan.project_id
       and d.id = orphan.delivery_id
       and d.state = 'sending'
    returning d.destination_id
  `)
}
