import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'
import type { Held } from '../instance.ts'

export type ClaimedRow = Held & {
  readonly workflow_id: string
  readonly version: number
  readonly record_id: string
  readonly dataset: string
  readonly hops: number
  readonly root_id: string
  readonly cursor: number
  readonly attempt: number
  /** JSON text; null: the instance has never run. */
  readonly context: string | null
  readonly wait_kind: 'event' | 'delivery' | 'ai_run' | null
  readonly wait_id: string | null
}

/**
 * Takes due instances that no process has, oldest due first. Processes do not wait for each other. A claim whose lease
 * has expired is taken over, and the fence voids the later work of its previous owner.
 */
export function claimInstances(
  db: Db,
  at: { now: Date; leaseUntil: Date; limit: number },
): Promise<readonly ClaimedRow[]> {
  // oxlint-disable-next-line house/tenant-statement -- the due instances of all workspaces
  return db.many<ClaimedRow>(sql`
    with due as materialized (
      select i.workspace_id, i.project_id, i.id
        from workflow_instances i
       where i.due_at <= ${at.now}
         and i.paused_at is null
         and (i.lease_until is null or i.lease_until <= ${at.now})
         and not exists (select 1 from workflow_pauses p where p.workspace_id = i.workspace_id)
         -- A wait ends in vain only after every record that came in time was compared with it.
         and (i.wait_key is null or (i.wait_from is null and i.due_at <= (select moved_at from workflow_matcher)))
       order by i.due_at
       limit ${at.limit}
         for update of i skip locked
    )
    update workflow_instances i
       set state = 'running', fence = i.fence + 1, lease_until = ${at.leaseUntil}
      from due d
     where i.workspace_id = d.workspace_id
       and i.project_id = d.project_id
       and i.id = d.id
       and i.ended_at is null
    returning i.workspace_id, i.project_id, i.id, i.fence, i.workflow_id, i.version, i.record_id, i.dataset, i.hops, coalesce(i.root_id, i.record_id) as root_id, i.cursor, i.attempt,
              i.context::text as context, i.wait_kind, i.wait_id
  `)
}

/**
 * Like `claimInstances`, for many due instances of several workspaces: each gets an equal part of the limit, the oldest
 * first. `behind`: its workspace may have further ones. It goes from one workspace to the next through an index, which
 * costs more than the plain claim where thousands of workspaces have instances that wait.
 */
export function claimSharedInstances(
  db: Db,
  at: { now: Date; leaseUntil: Date; limit: number },
): Promise<readonly (ClaimedRow & { readonly behind: boolean })[]> {
  // oxlint-disable-next-line house/tenant-statement -- the due instances of all workspaces
  return db.many<ClaimedRow & { readonly behind: boolean }>(sql`
    with recursive walk as (
      (select workspace_id, due_at
         from workflow_instances
        where due_at is not null
          and paused_at is null
        order by workspace_id, due_at
        limit 1)
      union all
      select further.workspace_id, further.due_at
        from walk
        cross join lateral (
               select workspace_id, due_at
                 from workflow_instances
                where due_at is not null
                  and paused_at is null
                  and workspace_id > walk.workspace_id
                order by workspace_id, due_at
                limit 1
             ) further
    ), crowd as materialized (
      select workspace_id
        from walk
       where due_at <= ${at.now}
         and not exists (select 1 from workflow_pauses p where p.workspace_id = walk.workspace_id)
    ), share as materialized (
      select ceil(${at.limit}::float8 / greatest(count(*), 1))::int as rows
        from crowd
    ), due as materialized (
      select i.workspace_id, i.project_id, i.id, count(*) over (partition by i.workspace_id) >= share.rows as behind
        from share
       cross join crowd
       cross join lateral (
               select d.workspace_id, d.project_id, d.id
                 from workflow_instances d
                where d.workspace_id = crowd.workspace_id
                  and d.due_at <= ${at.now}
                  and d.paused_at is null
                  and (d.lease_until is null or d.lease_until <= ${at.now})
                  and (d.wait_key is null or (d.wait_from is null and d.due_at <= (select moved_at from workflow_matcher)))
                order by d.due_at
                limit share.rows
                  for update of d skip locked
             ) i
    )
    update workflow_instances i
       set state = 'running', fence = i.fence + 1, lease_until = ${at.leaseUntil}
      from due d
     where i.workspace_id = d.workspace_id
       and i.project_id = d.project_id
       and i.id = d.id
       and i.ended_at is null
    returning i.workspace_id, i.project_id, i.id, i.fence, i.workflow_id, i.version, i.record_id, i.dataset, i.hops, coalesce(i.root_id, i.record_id) as root_id, i.cursor, i.attempt,
              i.context::text as context, i.wait_kind, i.wait_id, d.behind
  `)
}

/** Ends the leases of the claims that were not lost meanwhile. */
export async function releaseInstances(db: Db, held: readonly Held[]): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- claims of all workspaces, each by its key
  await db.run(sql`
    update workflow_instances i
       set lease_until = null
      from unnest(${held.map((one) => one.workspace_id)}::uuid[], ${held.map((one) => one.project_id)}::uuid[],
                  ${held.map((one) => one.id)}::uuid[], ${held.map((one) => one.fence)}::int[]) as h (workspace_id, project_id, id, fence)
     where i.workspace_id = h.workspace_id
       and i.project_id = h.project_id
       and i.id = h.id
       and i.fence = h.fence
       and i.state = 'running'
  `)
}

export type DefinitionRow = { readonly workflow_id: string; readonly version: number; readonly definition: string }
type InWorkspace = { readonly workspace_id: string; readonly project_id: string }

export function findDefinitions(
  db: Db,
  wanted: readonly (InWorkspace & { readonly workflow_id: string; readonly version: number })[],
): Promise<readonly DefinitionRow[]> {
  // oxlint-disable-next-line house/tenant-statement -- versions of all workspaces, each by its key
  return db.many<DefinitionRow>(sql`
    select v.workflow_id, v.version, v.definition::text as definition
      from unnest(${wanted.map((one) => one.workspace_id)}::uuid[], ${wanted.map((one) => one.project_id)}::uuid[],
                  ${wanted.map((one) => one.workflow_id)}::uuid[], ${wanted.map((one) => one.version)}::int[]) as w (workspace_id, project_id, workflow_id, version)
      join workflow_versions v
        on v.workspace_id = w.workspace_id
       and v.project_id = w.project_id
       and v.workflow_id = w.workflow_id
       and v.version = w.version
      join workflows f
        on f.workspace_id = w.workspace_id
       and f.project_id = w.project_id
       and f.id = w.workflow_id
  `)
}

export type RecordRow = {
  readonly id: string
  readonly received_at: Date
  /** JSON text; null: it was not requested. */
  readonly data: string | null
  readonly chain: string | null
  /** The request, with the payload; null: it was not requested, or no sender sent the event. */
  readonly headers: string | null
  readonly query: string | null
  readonly path: string | null
  /** The payload was requested, and there is no room for it. */
  readonly is_left_out: boolean
}

export type WantedRecord = InWorkspace & { readonly record_id: string; readonly whole: boolean }

/** Records that are still stored. `whole`: with the payload, unless those before it have `bytesMax` bytes together. */
export function findRecords(
  db: Db,
  { wanted, bytesMax }: { readonly wanted: readonly WantedRecord[]; readonly bytesMax: number },
): Promise<readonly RecordRow[]> {
  return db.many<RecordRow>(sql`
    select id, received_at, case when whole and coalesce(before, 0) < ${bytesMax} then data end as data, chain, headers, query, path,
           whole and coalesce(before, 0) >= ${bytesMax} as is_left_out
      from (
             select id, received_at, whole, data, chain, headers, query, path,
                    sum(octet_length(data)) over (order by place rows between unbounded preceding and 1 preceding) as before
               from (${wantedRecords(wanted)}) found
           ) sized
  `)
}

function wantedRecords(wanted: readonly WantedRecord[]): Sql {
  // oxlint-disable-next-line house/tenant-statement -- records of all workspaces, each by its key
  return sql`
    select r.id, r.received_at, w.whole, case when w.whole then coalesce(r.data, s.body) end as data, s.chain, w.place,
           case when s.origin_kind is null then s.headers::text end as headers, s.query, s.path
      from unnest(${wanted.map((one) => one.workspace_id)}::uuid[], ${wanted.map((one) => one.project_id)}::uuid[],
                  ${wanted.map((one) => one.record_id)}::uuid[], ${wanted.map((one) => one.whole)}::bool[])
             with ordinality as w (workspace_id, project_id, id, whole, place)
      join records r
        on r.workspace_id = w.workspace_id
       and r.project_id = w.project_id
       and r.id = w.id
      left join submissions s
        on w.whole
       and s.workspace_id = r.workspace_id
       and s.project_id = r.project_id
       and s.id = r.submission_id`
}

export type AwaitedDeliveryRow = {
  readonly id: string
  readonly state: 'pending' | 'sending' | 'delivered' | 'retrying' | 'failed' | 'paused' | 'cancelled'
  readonly last_status: number | null
  readonly response_body: string | null
}

export function findAwaitedDeliveries(
  db: Db,
  wanted: readonly (InWorkspace & { readonly wait_id: string })[],
): Promise<readonly AwaitedDeliveryRow[]> {
  // oxlint-disable-next-line house/tenant-statement -- deliveries of all workspaces, each by its key
  return db.many<AwaitedDeliveryRow>(sql`
    select d.id, d.state, d.last_status, a.response_body
      from unnest(${wanted.map((one) => one.workspace_id)}::uuid[], ${wanted.map((one) => one.project_id)}::uuid[],
                  ${wanted.map((one) => one.wait_id)}::uuid[]) as w (workspace_id, project_id, id)
      join deliveries d
        on d.workspace_id = w.workspace_id
       and d.project_id = w.project_id
       and d.id = w.id
      left join lateral (
             select response_body
               from delivery_attempts
              where workspace_id = d.workspace_id
                and delivery_id = d.id
                and d.state = 'delivered'
              order by number desc
              limit 1
           ) a on true
  `)
}

export type AwaitedRunRow = {
  readonly id: string
  readonly state: string
  readonly output: string | null
  readonly error: string | null
}

export function findAwaitedRuns(
  db: Db,
  wanted: readonly (InWorkspace & { readonly wait_id: string })[],
): Promise<readonly AwaitedRunRow[]> {
  // oxlint-disable-next-line house/tenant-statement -- AI runs of all workspaces, each by its key
  return db.many<AwaitedRunRow>(sql`
    select a.id, a.state, a.output::text as output, a.error::text as error
      from unnest(${wanted.map((one) => one.workspace_id)}::uuid[], ${wanted.map((one) => one.project_id)}::uuid[],
                  ${wanted.map((one) => one.wait_id)}::uuid[]) as w (workspace_id, project_id, id)
      join ai_runs a
        on a.workspace_id = w.workspace_id
       and a.project_id = w.project_id
       and a.id = w.id
  `)
}

/** When an instance is due, waits for an event, or is to be paused or resumed. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const instancesDue: Due = (now) => sql`
  select from workflow_instances where due_at <= ${now} and paused_at is null
  union all (select from workflow_instances where wait_key is not null limit 1)
  union all select from workflow_pauses where phase <> 'paused' or resumed_at is not null
`
