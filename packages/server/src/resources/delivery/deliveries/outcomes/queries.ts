import { sql, type Db, type Sql } from '../../../../platform/db.ts'

/** The outcomes of deliveries that replays sent again (docs/adr/0101). Each names its replay until its end is counted there, so it counts once. */

type At = { readonly workspaceId: string; readonly projectId: string }

const isEnded: Sql = sql`replay_id is not null and state in ('delivered', 'failed', 'cancelled')`

/** Adds the deliveries of `ended` to the replays that they name, and returns their number. */
const counting = (ended: Sql): Sql => sql`
  with ended as materialized (${ended}),
       released as (
         update deliveries d
            set replay_id = null
           from (select workspace_id, project_id, array[id] as ids from ended offset 0) e
          where d.workspace_id = e.workspace_id
            and d.project_id = e.project_id
            and d.id = any (e.ids)
       ),
       sums as (
         select workspace_id, project_id, replay_id,
                count(*) filter (where state = 'delivered') as delivered,
                count(*) filter (where state = 'failed') as failed,
                count(*) filter (where state = 'cancelled') as cancelled
           from ended
          group by workspace_id, project_id, replay_id
       ),
       counted as (
         update replays r
            set delivered = r.delivered + s.delivered,
                failed = r.failed + s.failed,
                cancelled = r.cancelled + s.cancelled
           from sums s
          where r.workspace_id = s.workspace_id
            and r.project_id = s.project_id
            and r.id = s.replay_id
       )
  select count(*)::int as count
    from ended
`

/** Counts the next ended deliveries of all workspaces, up to the limit. The next call counts those that are locked. */
export async function countOutcomes(db: Db, limit: number): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    counting(sql`
      select workspace_id, project_id, id, replay_id, state
        from deliveries
       where ${isEnded}
       limit ${limit}
         for update skip locked
    `),
  )
  return count
}

/** Counts those of these deliveries that have ended. They stay locked until the transaction ends. */
export async function countOutcomesOf(db: Db, at: At & { ids: readonly string[] }): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    counting(sql`
      select workspace_id, project_id, id, replay_id, state
        from deliveries
       where workspace_id = ${at.workspaceId}
         and project_id = ${at.projectId}
         and id = any (${at.ids}::uuid[])
         and ${isEnded}
       order by id
         for update
    `),
  )
  return count
}

/** If an ended replay has no delivery left to count, the rest were deleted early, so their outcomes are unknown. */
export async function countForgottenOutcomes(db: Db): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- a loop counts every workspace
  return db.run(sql`
    update replays r
       set unknown = r.replayed - r.delivered - r.failed - r.cancelled
     where r.state in ('done', 'cancelled')
       and r.replayed > r.delivered + r.failed + r.cancelled + r.unknown
       and not exists (
             select 1
               from deliveries d
              where d.replay_id = r.id
                and d.replay_id is not null
                and d.state in ('pending', 'sending', 'retrying', 'paused')
           )
       and not exists (
             select 1
               from deliveries d
              where d.replay_id = r.id
                and d.replay_id is not null
                and d.state in ('delivered', 'failed', 'cancelled')
           )
  `)
}
