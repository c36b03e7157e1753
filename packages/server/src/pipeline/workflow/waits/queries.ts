import type { Condition } from '@postroad/contract'
import { seesNothing, type Snapshot } from '../../../domain/serving/snapshot.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import { moment, recordXid, seenBy, unseenBy } from '../../../resources/serving/stream/queries.ts'
import type { InstanceKey } from '../instance.ts'

/** The statements of this file read the tables of all workspaces. */

export type MatcherRow = {
  readonly history: string
  readonly snapshot: string
  /** Milliseconds: every record that the snapshot does not see has an id from this time or later. */
  readonly floor_ms: number
  readonly moved_at: Date
}

/** The position of the matcher. undefined: another process is reading. */
export function lockMatcher(db: Db): Promise<MatcherRow | undefined> {
  return db.maybe<MatcherRow>(sql`
    select history, snapshot, floor_ms, moved_at
      from workflow_matcher
       for update skip locked
  `)
}

export async function moveMatcher(db: Db, to: MatcherRow): Promise<void> {
  await db.run(sql`
    update workflow_matcher
       set history = ${to.history}, snapshot = ${to.snapshot}, floor_ms = ${to.floor_ms}, moved_at = ${to.moved_at}
  `)
}

export type WaitPath = {
  readonly workspace_id: string
  readonly project_id: string
  readonly wait_dataset: string
  readonly wait_path: string
}

/**
 * The datasets whose records some instance waits for, with the paths that decide. It goes through the index from one to
 * the next, so a hundred thousand waits on one path cost no more than one.
 */
export function listWaitPaths(db: Db): Promise<readonly WaitPath[]> {
  // oxlint-disable-next-line house/tenant-statement -- the waits of all workspaces
  return db.many<WaitPath>(sql`
    with recursive walk as (
      (select workspace_id, project_id, wait_dataset, wait_path
         from workflow_instances
        where wait_key is not null
        order by project_id, wait_dataset, wait_path
        limit 1)
      union all
      select further.workspace_id, further.project_id, further.wait_dataset, further.wait_path
        from walk
        cross join lateral (
               select workspace_id, project_id, wait_dataset, wait_path
                 from workflow_instances
                where wait_key is not null
                  and (project_id, wait_dataset, wait_path) > (walk.project_id, walk.wait_dataset, walk.wait_path)
                order by project_id, wait_dataset, wait_path
                limit 1
             ) further
    )
    select workspace_id, project_id, wait_dataset, wait_path
      from walk
  `)
}

export type NewRecord = {
  readonly workspace_id: string
  readonly project_id: string
  readonly id: string
  readonly dataset: string
  readonly xid: number
  /** The text of the payload. */
  readonly data: string
  /** The request, its headers as JSON; null: no sender sent the record. */
  readonly headers: string | null
  readonly query: string | null
  readonly path: string | null
}

export type NewRecordsAt = {
  /** Each project once, and the dataset names that instances wait for in any of them. */
  readonly projects: readonly { readonly workspace_id: string; readonly project_id: string }[]
  readonly datasets: readonly string[]
  readonly from: Snapshot
  readonly to: Snapshot
  readonly floor: number
  readonly after: string | undefined
  readonly rowsMax: number
  /** At least one record is returned, and no further one once these bytes are full. */
  readonly bytesMax: number
}

/** `more`: further records may be waiting. */
type NewRecords = { readonly records: readonly NewRecord[]; readonly more: boolean }

/** Records that `to` sees and `from` does not, by id. */
export async function readNewRecords(db: Db, at: NewRecordsAt): Promise<NewRecords> {
  const records = await db.many<NewRecord & { readonly found: number }>(sql`
    select workspace_id, project_id, id, dataset, xid, data, headers, query, path, found
      from (
             select workspace_id, project_id, id, dataset, xid, data, headers, query, path, count(*) over () as found,
                    sum(octet_length(data)) over (order by id rows between unbounded preceding and 1 preceding) as before
               from (${newRecords(at)}) new_records
           ) page
     where coalesce(before, 0) < ${at.bytesMax}
     order by id
  `)
  const found = records[0]?.found ?? 0
  return { records, more: found === at.rowsMax || records.length < found }
}

function newRecords(at: NewRecordsAt): Sql {
  const { projects, from } = at
  return sql`
    with m as materialized (${moment})
    select r.workspace_id, r.project_id, r.id, r.dataset, r.xid, coalesce(r.data, s.body) as data,
           case when s.origin_kind is null then s.headers::text end as headers, s.query, s.path
      from m
     cross join unnest(${projects.map((one) => one.workspace_id)}::uuid[], ${projects.map((one) => one.project_id)}::uuid[])
             as p (workspace_id, project_id)
     cross join lateral (
       select r.workspace_id, r.project_id, r.id, r.submission_id, r.dataset, r.data, ${recordXid} as xid
         from records r
        where r.workspace_id = p.workspace_id
          and r.project_id = p.project_id
          and r.id >= ${uuidv7Floor(at.floor)}
          ${at.after === undefined ? sql`` : sql`and r.id > ${at.after}`}
          and r.dataset = any (${at.datasets}::text[])
          ${seesNothing(from) ? sql`` : unseenBy(from)}
          ${seenBy(at.to)}
        order by r.id
        limit ${at.rowsMax}
     ) r
      join submissions s
        on s.workspace_id = r.workspace_id
       and s.project_id = r.project_id
       and s.id = r.submission_id
     order by r.id
     limit ${at.rowsMax}`
}

/** A value that waits may wait for. */
export type Probe = WaitPath & { readonly key: Buffer }

export type CandidateRow = InstanceKey & {
  /** The place of the probe in the list. */
  readonly ordinal: number
  readonly wait_conditions: Condition[]
  readonly wait_since: string
  /** The ids of records that do not end the wait, with commas; null: none. */
  readonly wait_past: string | null
  /** The wait looks back, and compares the records with later ids there; null: it does not. */
  readonly wait_from: string | null
}

/** The waits that these keys find, locked. Each key comes once, and so does each wait. */
export function findWaits(db: Db, probes: readonly Probe[]): Promise<readonly CandidateRow[]> {
  return db.many<CandidateRow>(sql`
    select i.workspace_id, i.project_id, i.id, k.ordinal::int as ordinal, i.wait_conditions, i.wait_since, i.wait_past, i.wait_from
      from unnest(${probes.map((one) => one.workspace_id)}::uuid[], ${probes.map((one) => one.project_id)}::uuid[],
                  ${probes.map((one) => one.wait_dataset)}::text[], ${probes.map((one) => one.wait_path)}::text[],
                  ${probes.map((one) => one.key.toString('hex'))}::text[])
             with ordinality as k (workspace_id, project_id, wait_dataset, wait_path, wait_key, ordinal)
      join workflow_instances i
        on i.workspace_id = k.workspace_id
       and i.project_id = k.project_id
       and i.wait_dataset = k.wait_dataset
       and i.wait_path = k.wait_path
       and i.wait_key = decode(k.wait_key, 'hex')
     where i.wait_key is not null
     order by i.workspace_id, i.project_id, i.id
       for update of i
  `)
}

/** Wakes waits that found their records. The fence rises, so a claim after their timeout no longer changes anything. */
export function wakeWaits(
  db: Db,
  { found, now }: { readonly found: readonly (InstanceKey & { readonly record_id: string })[]; readonly now: Date },
): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- waits of all workspaces, each by its key
  return db.run(sql`
    update workflow_instances i
       set state = 'waiting', wait_id = f.record_id, wait_path = null, wait_key = null, wait_conditions = null, wait_since = null,
           wait_from = null, wait_past = null, due_at = ${now}, lease_until = null, fence = i.fence + 1, updated_at = ${now}
      from unnest(${found.map((one) => one.workspace_id)}::uuid[], ${found.map((one) => one.project_id)}::uuid[],
                  ${found.map((one) => one.id)}::uuid[], ${found.map((one) => one.record_id)}::uuid[]) as f (workspace_id, project_id, id, record_id)
     where i.workspace_id = f.workspace_id
       and i.project_id = f.project_id
       and i.id = f.id
       and i.state in ('waiting', 'running')
       and i.wait_key is not null
  `)
}

/** A wait that must still be compared with records of the time before it. */
export type LookingBack = WaitPath &
  Omit<CandidateRow, 'ordinal'> & {
    readonly wait_key: Buffer
    /** Records with later ids are left to compare. */
    readonly wait_from: string
  }

/** The waits that look back, locked, the latest start first: the most recent one has the fewest records to compare. */
export function listLookingBack(db: Db, { limit }: { limit: number }): Promise<readonly LookingBack[]> {
  // oxlint-disable-next-line house/tenant-statement -- the waits of all workspaces
  return db.many<LookingBack>(sql`
    select workspace_id, project_id, id, wait_dataset, wait_path, wait_key, wait_conditions, wait_since, wait_past, wait_from
      from workflow_instances
     where wait_from is not null
     order by wait_from desc
     limit ${limit}
       for update skip locked
  `)
}

/** `from` null: everything has been compared. No wait goes back to records that it has been compared with. */
export async function moveLookingBack(
  db: Db,
  { waits, from }: { readonly waits: readonly InstanceKey[]; readonly from: string | null },
): Promise<void> {
  // oxlint-disable-next-line house/tenant-statement -- waits of all workspaces, each by its key
  await db.run(sql`
    update workflow_instances i
       set wait_from = case when ${from}::uuid is not null then greatest(i.wait_from, ${from}::uuid) end
      from unnest(${waits.map((one) => one.workspace_id)}::uuid[], ${waits.map((one) => one.project_id)}::uuid[],
                  ${waits.map((one) => one.id)}::uuid[]) as w (workspace_id, project_id, id)
     where i.workspace_id = w.workspace_id
       and i.project_id = w.project_id
       and i.id = w.id
       and i.wait_from is not null
  `)
}
