import { sql, type Db, type Sql } from '../../../platform/db.ts'

import type { LaneStandRow } from '../../delivery/lanes/index.ts'

/** The statements of this room read the tables of other rooms, for numbers only. */

type InProjects = { readonly workspaceId: string; readonly projectIds: readonly string[] }

/** Due deliveries of each destination, in the order of their index, earliest first. */
const dueOf = (state: string, limit: number): Sql => sql`
  select d.id
    from deliveries d
   where d.workspace_id = t.workspace_id
     and d.destination_id = t.id
     and d.state = ${state}
     and d.next_attempt_at is not null
   order by d.next_attempt_at, d.id
   limit ${limit}
`
const pausedOf = (limit: number): Sql => sql`
  select d.id
    from deliveries d
   where d.workspace_id = t.workspace_id
     and d.destination_id = t.id
     and d.state = 'paused'
   limit ${limit}
`

/** The number of these in all destinations together, counted up to `max`. */
const upTo = (max: number, of: Sql): Sql => sql`
  (select count(*)
     from (
            select 1
              from destinations t
             cross join lateral (${of}) found
             where t.workspace_id = workspace.id
               and t.project_id = any (workspace.projects)
             limit ${max}
          ) counted)
`

/** The number per destination that is searched for the oldest, because retries are not due in the order of their events. */
const LOOKED_AT = 100

export type BacklogRow = {
  readonly pending: number
  readonly retrying: number
  readonly paused: number
  readonly oldest: string | null
}

/** The deliveries that wait now, each state counted up to `max`, and the id of the oldest due one. */
export function measureBacklog(db: Db, at: InProjects & { max: number }): Promise<BacklogRow> {
  return db.one<BacklogRow>(sql`
    select ${upTo(at.max, dueOf('pending', at.max))} as pending,
           ${upTo(at.max, dueOf('retrying', at.max))} as retrying,
           ${upTo(at.max, pausedOf(at.max))} as paused,
           (select min(found.id::text)
              from destinations t
             cross join (values ('pending'), ('retrying')) as waiting (state)
             cross join lateral (
                     select d.id
                       from deliveries d
                      where d.workspace_id = t.workspace_id
                        and d.destination_id = t.id
                        and d.state = waiting.state
                        and d.next_attempt_at is not null
                      order by d.next_attempt_at, d.id
                      limit ${LOOKED_AT}
                   ) found
             where t.workspace_id = workspace.id
               and t.project_id = any (workspace.projects)
           ) as oldest
      from (select ${at.workspaceId}::uuid as id, ${at.projectIds}::uuid[] as projects) workspace
  `)
}

export type NamedDestination = {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  readonly disabled_reason: 'by_hand' | 'gone' | 'failing' | null
  readonly lane: LaneStandRow | null
}

/** The destinations with these ids, without deleted ones. */
export function nameDestinations(
  db: Db,
  at: InProjects & { ids: readonly string[] },
): Promise<readonly NamedDestination[]> {
  return db.many<NamedDestination>(sql`
    select id, name, enabled, disabled_reason,
           (select json_build_object('memory', l.memory, 'remembered_at', l.remembered_at, 'breaker_resets', l.breaker_resets,
                                     'probes_asked', l.probes_asked)
              from lanes l
             where l.workspace_id = destinations.workspace_id
               and l.destination_id = destinations.id) as lane
      from destinations
     where workspace_id = ${at.workspaceId}
       and project_id = any (${at.projectIds}::uuid[])
       and id = any (${at.ids}::uuid[])
  `)
}
