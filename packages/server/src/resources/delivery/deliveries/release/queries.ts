import { sql, type Db } from '../../../../platform/db.ts'
import { reasonToWait } from '../queries.ts'

export type WaitingWorkspace = {
  readonly id: string
  readonly plan: string
  /** How many deliveries count in the month. */
  readonly used: number
  readonly told: boolean
}

/**
 * Workspaces with deliveries that wait for the allowance, and how much their month has used. A suspended workspace is left out.
 * The walk goes through the index of these deliveries from workspace to workspace, so a large backlog costs no more than a small one.
 */
export function listWaitingWorkspaces(db: Db, month: string): Promise<readonly WaitingWorkspace[]> {
  return db.many<WaitingWorkspace>(sql`
    with recursive walk (workspace_id) as (
      (select workspace_id
         from deliveries
        where pause_reason = 'allowance_used'
        order by workspace_id
        limit 1)
      union all
      select further.workspace_id
        from walk
        left join lateral (
               select workspace_id
                 from deliveries
                where pause_reason = 'allowance_used'
                  and workspace_id > walk.workspace_id
                order by workspace_id
                limit 1
             ) further on true
       where walk.workspace_id is not null
    )
    select w.id, w.plan, coalesce(used.deliveries, 0) as used, used.allowance_told_at is not null as told
      from walk
      join workspaces w on w.id = walk.workspace_id and not w.halted
      left join monthly_usage used on used.workspace_id = w.id and used.month = ${month}::date
  `)
}

export type WaitingDelivery = { readonly project_id: string; readonly id: string; readonly destination_id: string }

/** The oldest deliveries of a workspace that wait for the allowance, locked. The sweep cancels those whose destination was deleted. */
export function lockWaiting(db: Db, at: { workspaceId: string; limit: number }): Promise<readonly WaitingDelivery[]> {
  return db.many<WaitingDelivery>(sql`
    select d.project_id, d.id, d.destination_id
      from deliveries d
      join projects p on p.workspace_id = d.workspace_id and p.id = d.project_id and p.deleted_at is null
      join destinations t on t.workspace_id = d.workspace_id and t.project_id = d.project_id and t.id = d.destination_id
     where d.workspace_id = ${at.workspaceId}
       and d.pause_reason = 'allowance_used'
     order by d.id
     limit ${at.limit}
       for update of d skip locked
  `)
}

/** Makes locked deliveries due. A delivery whose destination is off now waits for the destination. The bounds of ids select the days (docs/adr/0047). */
export function release(
  db: Db,
  at: { workspaceId: string; rows: readonly WaitingDelivery[]; now: Date },
): Promise<number> {
  return db.run(sql`
    update deliveries d
       set state = case when why.reason is null then 'pending' else 'paused' end,
           pause_reason = why.reason,
           next_attempt_at = case when why.reason is null then ${at.now}::timestamptz end,
           updated_at = ${at.now}
      from unnest(${at.rows.map((row) => row.project_id)}::uuid[], ${at.rows.map((row) => row.id)}::uuid[], ${at.rows.map((row) => row.destination_id)}::uuid[])
        as given (project_id, id, destination_id)
     cross join lateral (select given.project_id, array[given.id] as ids, given.destination_id offset 0) waiting
     cross join workspaces w
      join destinations t on t.workspace_id = w.id and t.project_id = waiting.project_id and t.id = waiting.destination_id
     ${reasonToWait}
     where w.id = ${at.workspaceId}
       and d.workspace_id = ${at.workspaceId}
       and d.project_id = waiting.project_id
       and d.id = any (waiting.ids)
       and d.id between ${at.rows[0]?.id ?? null}::uuid and ${at.rows.at(-1)?.id ?? null}::uuid
       and d.state = 'paused'
       and d.pause_reason = 'allowance_used'
  `)
}

/** Records that the managers were notified for this month; 0 when they already were. */
export function recordNotified(db: Db, at: { workspaceId: string; month: string; now: Date }): Promise<number> {
  return db.run(sql`
    insert into monthly_usage as used (workspace_id, month, events, allowance_told_at)
    values (${at.workspaceId}, ${at.month}::date, 0, ${at.now})
    on conflict (workspace_id, month) do update
       set allowance_told_at = excluded.allowance_told_at
     where used.allowance_told_at is null
  `)
}
