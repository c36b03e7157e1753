import { sql, type Db, type Sql } from '../../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly destinationId: string }
type Waiting = { readonly state: 'pending' | 'retrying' }

/** The deliveries that wait in one state, in the order of their index: the earliest due one first. */
const waitingIn = ({ workspaceId, destinationId, state }: At & Waiting, limit: number): Sql => sql`
  select id, next_attempt_at
    from deliveries
   where workspace_id = ${workspaceId}
     and destination_id = ${destinationId}
     and state = ${state}
     and next_attempt_at is not null
   order by next_attempt_at, id
   limit ${limit}
`

/** Retries are not due in the order of their events, so a search for the oldest event reads this many. */
const LOOKED_AT = 100

export type Backlog = {
  readonly pending: number
  readonly retrying: number
  readonly paused: number
  readonly oldest: string | null
  readonly next_attempt_at: Date | null
}

/** The deliveries that wait for a destination, each state counted up to `max`; the id of the oldest; and the time when the first is due. */
export function measureBacklog(db: Db, at: At & { max: number }): Promise<Backlog> {
  const [pending, retrying] = [
    { ...at, state: 'pending' },
    { ...at, state: 'retrying' },
  ] as const
  return db.one<Backlog>(sql`
    select (select count(*) from (${waitingIn(pending, at.max)}) counted) as pending,
           (select count(*) from (${waitingIn(retrying, at.max)}) counted) as retrying,
           (select count(*)
              from (
                     select 1
                       from deliveries
                      where workspace_id = ${at.workspaceId}
                        and destination_id = ${at.destinationId}
                        and state = 'paused'
                      limit ${at.max}
                   ) counted) as paused,
           first.oldest, first.next_attempt_at
      from (
             select min(id::text) as oldest, min(next_attempt_at) as next_attempt_at
               from ((${waitingIn(pending, LOOKED_AT)}) union all (${waitingIn(retrying, LOOKED_AT)})) looked_at
           ) first
  `)
}

/**
 * Makes sure that a delivery is due in this lane, for a probe: it brings the next one forward if none is due. In an ordered lane it
 * takes only the first delivery of a key. Returns 0 when no delivery waits.
 */
export function makeOneDue(db: Db, at: At & { now: Date }): Promise<number> {
  return db.run(sql`
    update deliveries
       set next_attempt_at = least(next_attempt_at, ${at.now}),
           updated_at = case when next_attempt_at > ${at.now} then ${at.now} else updated_at end
     where workspace_id = ${at.workspaceId}
       and destination_id = ${at.destinationId}
       and state in ('pending', 'retrying')
       and id = (
             select d.id
               from deliveries d
              where d.workspace_id = ${at.workspaceId}
                and d.destination_id = ${at.destinationId}
                and d.state in ('pending', 'retrying')
                and d.next_attempt_at is not null
                and not exists (
                      select 1
                        from deliveries e
                       where d.order_key is not null
                         and e.workspace_id = d.workspace_id
                         and e.destination_id = d.destination_id
                         and e.order_key = d.order_key
                         and e.order_key is not null
                         and e.order_seq < d.order_seq
                         and e.state in ('pending', 'sending', 'retrying', 'paused')
                    )
              order by d.next_attempt_at, d.id
              limit 1
                for update skip locked
           )
  `)
}
