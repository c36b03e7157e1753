import { named, sql, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor, uuidv7Ms } from '../../../platform/ids.ts'

/** The statements of this room cover the tables of all rooms, because a deleted project or workspace is erased as a whole, piece by piece. */

type InProject = { readonly workspaceId: string; readonly projectId: string; readonly limit: number }

const ERASURE_LOCK = 4_680_022

/** Lets one process erase at a time; false while another one does. The lock ends with the transaction. */
export async function tryLockErasure(db: Db): Promise<boolean> {
  const { held } = await db.one<{ held: boolean }>(sql`select pg_try_advisory_xact_lock(${ERASURE_LOCK}) as held`)
  return held
}

export type DoomedProject = { readonly workspace_id: string; readonly id: string }

type Next = { readonly before: Date; readonly without: readonly string[] }

/** A project that was deleted before this time and may still have contents. */
export function nextDeletedProject(db: Db, { before, without }: Next): Promise<DoomedProject | undefined> {
  return db.maybe<DoomedProject>(sql`
    select workspace_id, id
      from projects
     where deleted_at <= ${before}
       and emptied_at is null
       and id <> all (${without}::uuid[])
     order by deleted_at
     limit 1
  `)
}

/** Like `nextDeletedProject`, for the projects of one workspace, deleted or not. */
export function nextProjectOf(db: Db, workspaceId: string): Promise<DoomedProject | undefined> {
  return db.maybe<DoomedProject>(sql`
    select workspace_id, id
      from projects
     where workspace_id = ${workspaceId}
       and emptied_at is null
     order by id
     limit 1
  `)
}

export async function setEmptied(db: Db, at: { workspaceId: string; projectId: string; now: Date }): Promise<void> {
  await db.run(sql`
    update projects
       set emptied_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and id = ${at.projectId}
       and emptied_at is null
  `)
}

/** A workspace that was closed before this time. */
export function nextClosedWorkspace(
  db: Db,
  { before, without }: Next,
): Promise<{ id: string; slug: string } | undefined> {
  return db.maybe<{ id: string; slug: string }>(sql`
    select id, slug
      from workspaces
     where closed_at <= ${before}
       and id <> all (${without}::uuid[])
     order by closed_at
     limit 1
  `)
}

/** Erases the attempts of a `piece` of deliveries, which only the index of their deliveries finds. */
const attemptsOfPiece = (workspaceId: string): Sql => sql`
         attempts as (
           delete from delivery_attempts
            where workspace_id = ${workspaceId}
              and delivery_id = any (array(select id from piece))
         )
`

/** Erases deliveries with their attempts. Returns how many deliveries. */
export function eraseDeliveries(db: Db, at: InProject): Promise<number> {
  return db.run(sql`
    with piece as materialized (
           select id
             from deliveries
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
            limit ${at.limit}
         ),
         ${attemptsOfPiece(at.workspaceId)}
    delete from deliveries
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (array(select id from piece))
  `)
}

/** Erases destinations with their lanes, in one statement, so that none exists without the other. Returns how many. */
export function eraseDestinations(db: Db, at: InProject): Promise<number> {
  return db.run(sql`
    with gone as (
           delete from destinations
            where workspace_id = ${at.workspaceId}
              and project_id = ${at.projectId}
              and id = any (array(
                    select id
                      from destinations
                     where workspace_id = ${at.workspaceId}
                       and project_id = ${at.projectId}
                     limit ${at.limit}
                  ))
           returning id
         )
    delete from lanes
     where workspace_id = ${at.workspaceId}
       and destination_id = any (array(select id from gone))
  `)
}

export type TenantTable = { readonly name: string; readonly key: readonly string[] }

/** Every table whose key starts with the workspace (docs/adr/0004), read from the catalog, so that none is forgotten. */
export function listTenantTables(db: Db): Promise<readonly TenantTable[]> {
  return db.many<TenantTable>(sql`
    select c.relname as name, array_agg(a.attname::text order by k.place) as key
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
      join pg_index i on i.indrelid = c.oid and i.indisprimary
     cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
     where c.relkind in ('r', 'p')
       and not c.relispartition
     group by c.relname
    having (array_agg(a.attname::text order by k.place))[1] = 'workspace_id'
     order by c.relname
  `)
}

/**
 * Erases a batch of rows of one table. Returns how many. `projectId` null: of the whole workspace. It finds rows by
 * ctid, which is fast under any plan. In a partitioned table a ctid may occur once per partition, but the condition
 * still matches only rows to erase.
 */
export function eraseRows(
  db: Db,
  { name }: TenantTable,
  at: { workspaceId: string; projectId: string | null; limit: number },
): Promise<number> {
  const inside =
    at.projectId === null
      ? sql`workspace_id = ${at.workspaceId}`
      : sql`workspace_id = ${at.workspaceId} and project_id = ${at.projectId}`
  return db.run(sql`
    delete from ${named(name)}
     where ${inside}
       and ctid = any (array(
             select ctid
               from ${named(name)}
              where ${inside}
              limit ${at.limit}
           ))
  `)
}

/** Erases the access of people and credentials. Returns how many rows. */
export async function eraseAccess(db: Db, workspaceId: string): Promise<number> {
  const members = await db.run(sql`delete from members where workspace_id = ${workspaceId}`)
  return members + (await db.run(sql`delete from credentials where workspace_id = ${workspaceId}`))
}

/** Erases the last rows of a workspace. Returns its projects, for the caches that contain them. */
export async function eraseWorkspace(db: Db, workspaceId: string): Promise<readonly { id: string }[]> {
  const projects = await db.many<{ id: string }>(sql`
    delete from projects
     where workspace_id = ${workspaceId}
    returning id
  `)
  await db.run(sql`
    delete from workspaces
     where id = ${workspaceId}
       and closed_at is not null
  `)
  return projects
}

/** The tables that retention deletes row by row, where whole days cannot be dropped. Deliveries go first, with their attempts. */
export const EXPIRED_TABLES = ['delivery_attempts', 'search_blocks', 'records', 'submissions'] as const

/** Workspaces on a plan with events from before this time (milliseconds). Only these need work. */
export function listWorkspacesWithExpired(
  db: Db,
  at: { plan: string; before: number },
): Promise<readonly { readonly id: string }[]> {
  const before = uuidv7Floor(at.before)
  return db.many<{ id: string }>(sql`
    select w.id
      from workspaces w
     where w.plan = ${at.plan}
       and (exists (select 1 from deliveries d where d.workspace_id = w.id and d.id < ${before}::uuid)
            or exists (select 1 from submissions s where s.workspace_id = w.id and s.id < ${before}::uuid))
     order by w.id
  `)
}

const DAY_MS = 86_400_000
/** The rows of one event get their ids one after another, within this time. */
const SPARE_MS = 60_000

/** The start of a workspace's retention: `before`, or the day (UTC) of its oldest delivery that waits for the allowance. */
export async function retainedFrom(
  db: Db,
  { workspaceId, before }: { workspaceId: string; before: number },
): Promise<number> {
  const waiting = await db.maybe<{ id: string }>(sql`
    select id
      from deliveries
     where workspace_id = ${workspaceId}
       and pause_reason = 'allowance_used'
     order by id
     limit 1
  `)
  // Every row that the delivery depends on is from this day or later.
  return waiting === undefined
    ? before
    : Math.min(before, Math.floor((uuidv7Ms(waiting.id) - SPARE_MS) / DAY_MS) * DAY_MS)
}

type Expired = { readonly workspaceId: string; readonly before: number; readonly limit: number }

/** Deletes a batch of the deliveries from before this time, each with all its attempts. Returns how many deliveries. */
export function expireDeliveries(db: Db, at: Expired): Promise<number> {
  return db.run(sql`
    with piece as materialized (
           select project_id, id
             from deliveries
            where workspace_id = ${at.workspaceId}
              and id < ${uuidv7Floor(at.before)}::uuid
            limit ${at.limit}
         ),
         ${attemptsOfPiece(at.workspaceId)}
    delete from deliveries
     where workspace_id = ${at.workspaceId}
       and id < ${uuidv7Floor(at.before)}::uuid
       and project_id = any (array(select project_id from piece))
       and id = any (array(select id from piece))
  `)
}

/** Deletes a batch of the rows of another table from before this time. Returns how many. */
export function expireRows(db: Db, name: (typeof EXPIRED_TABLES)[number], at: Expired): Promise<number> {
  return db.run(sql`
    with piece as materialized (
           select project_id, id
             from ${named(name)}
            where workspace_id = ${at.workspaceId}
              and id < ${uuidv7Floor(at.before)}::uuid
            limit ${at.limit}
         )
    delete from ${named(name)}
     where workspace_id = ${at.workspaceId}
       and id < ${uuidv7Floor(at.before)}::uuid
       and project_id = any (array(select project_id from piece))
       and id = any (array(select id from piece))
  `)
}
