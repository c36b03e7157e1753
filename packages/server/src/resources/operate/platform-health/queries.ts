import { sql, type Db } from '../../../platform/db.ts'

/** The statements of this room read the tables of all workspaces; each stops counting at `max`. */

export type OverdueRow = { readonly overdue: number; readonly oldest_due_at: Date | null }

/** The most deliveries that are read from each lane. */
const OF_A_LANE = 100

/**
 * Deliveries that have been due since before a time, in lanes that start nothing although nothing makes them wait: the
 * destination is on, and no earlier delivery has their key. The counts, which are seconds old, show that a lane starts
 * nothing; `doctor` reads the attempts themselves.
 */
export function countOverdue(db: Db, at: { dueBefore: Date; max: number }): Promise<OverdueRow> {
  return db.one<OverdueRow>(sql`
    select count(*)::int as overdue, min(found.next_attempt_at) as oldest_due_at
      from (
             select due.next_attempt_at
               from lanes l
               join workspaces w on w.id = l.workspace_id and not w.halted
               join destinations t on t.workspace_id = l.workspace_id and t.id = l.destination_id and t.enabled
               join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id and p.deleted_at is null
              cross join (values ('pending'), ('retrying')) as waiting (state)
              cross join lateral (
                      select d.next_attempt_at
                        from deliveries d
                       where d.workspace_id = l.workspace_id
                         and d.destination_id = l.destination_id
                         and d.state = waiting.state
                         and d.next_attempt_at <= ${at.dueBefore}
                         and not (d.order_key is not null and exists (
                               select 1
                                 from deliveries earlier
                                where earlier.workspace_id = d.workspace_id
                                  and earlier.destination_id = d.destination_id
                                  and earlier.order_key = d.order_key
                                  and earlier.order_seq < d.order_seq
                                  and earlier.state in ('pending', 'sending', 'retrying', 'paused')
                             ))
                       limit ${OF_A_LANE}
                    ) due
              where coalesce(l.waits_until <= ${at.dueBefore}, true)
                and not exists (
                      select 1
                        from destination_rollups r
                       where r.workspace_id = t.workspace_id
                         and r.project_id = t.project_id
                         and r.destination_id = t.id
                         and r.span_seconds = 60
                         and r.at >= ${at.dueBefore}::timestamptz - case t.rate_per when 'hour' then interval '1 hour'
                                                                                     when 'minute' then interval '2 minutes'
                                                                                     else interval '1 minute'
                                                                    end
                    )
              limit ${at.max}
           ) found
  `)
}

export type LanesRow = { readonly owned: number; readonly waiting: number; readonly senders: number }

export function countLanes(db: Db, at: { now: Date; max: number }): Promise<LanesRow> {
  // oxlint-disable-next-line house/tenant-statement -- the lanes of all workspaces
  return db.one<LanesRow>(sql`
    select (select count(*)::int
              from (
                     select 1
                       from lanes l
                       join lane_owners o on o.owner = l.owner and o.lease_until > ${at.now}
                      where l.owner is not null
                      limit ${at.max}
                   ) found) as owned,
           (select count(*)::int
              from (
                     select 1
                       from lanes l
                      where l.waits_until > ${at.now}
                      limit ${at.max}
                   ) found) as waiting,
           (select count(*)::int from lane_owners where lease_until > ${at.now}) as senders
  `)
}

export async function countMails(db: Db, max: number): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*)::int as found
      from (
             select 1
               from mails
              where sent_at is null
                and failed_at is null
              limit ${max}
           ) waiting
  `)
  return found
}
