import { seesNothing, type Snapshot } from '../../../domain/serving/snapshot.ts'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import type { DeliveryRow } from '../../delivery/deliveries/index.ts'
import type { RejectionRow } from '../../capture/rejections/index.ts'
import {
  headerTitle,
  verifiedScheme,
  type OriginColumns,
  type VerifiedColumns,
} from '../../capture/submissions/index.ts'

/** The scope of a stream: a project, or with null all projects of a workspace. */
export type StreamScope = { readonly workspaceId: string; readonly projectId: string | null }

/** The moment that a statement saw, with the database and its generation; ends in `-0` while no generation is recorded. */
type MomentRow = { readonly snapshot: string; readonly history: string }

export type StreamRow = OriginColumns &
  VerifiedColumns & {
    readonly id: string
    readonly dataset: string
    readonly received_at: Date
    /** The transaction that wrote the row. */
    readonly xid: number
    /** The text of the payload. */
    readonly data: string
    readonly webhook_id: string | null
    readonly header_title: string | null
    readonly submission_id: string
    readonly request_path: string | null
    readonly request_query: string | null
    readonly is_request: boolean
    /** JSON text; null unless the page was read with requests. */
    readonly request_headers: string | null
    /** The body as received, as text or as bytes. */
    readonly request_body: string | null
    readonly request_bytes: Buffer | null
  }

export type PageAt = StreamScope & {
  readonly from: Snapshot
  /** Milliseconds: every row that `from` does not see has an id from this time or later. */
  readonly floor: number
  /** The upper bound of the read; undefined: everything that exists now. */
  readonly to: Snapshot | undefined
  readonly after: string | undefined
  readonly datasets: readonly string[] | undefined
  /** Whether the rows have the requests of their records. */
  readonly requests: boolean
  readonly rowsMax: number
  /** At least one row is returned, and no further row once these bytes are full. */
  readonly bytesMax: number
}

type JoinedRow = MomentRow & { readonly found: number | null } & {
  readonly [Name in keyof StreamRow]: StreamRow[Name] | null
}

// The full number of the transaction that wrote row `r`. The column has its lower 32 bits, and it is not in the future.
export const recordXid: Sql = sql`m.next - ((m.next - r.xmin::text::bigint) & 4294967295)`

/**
 * Rows that `from` does not see. It compares ages first, at a tenth of the cost, because `from` sees nearly every row of the window. Ages
 * have 31 bits.
 */
export const unseenBy = ({ xmin, xmax, running }: Snapshot): Sql => sql`
  and (m.next - ${xmin}::bigint >= 2000000000 or age(r.xmin) <= (select age((${xmin}::bigint & 4294967295)::text::xid)))
  and ${recordXid} >= ${xmin}
  and (${recordXid} >= ${xmax} or ${recordXid} = any (${running}::bigint[]))
`

export const seenBy = ({ xmax, running }: Snapshot): Sql => sql`
  and ${recordXid} < ${xmax}
  and ${recordXid} <> all (${running}::bigint[])
`

export const moment: Sql = sql`
  select pg_current_snapshot()::text as snapshot,
         pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next,
         s.system_identifier || '-' || coalesce((select generation from stream_generation), 0) as history
    from pg_control_system() s
`

/** After a crash of the database, and at its first start, a new generation starts. */
export async function beginGeneration(db: Db): Promise<void> {
  await db.run(sql`
    insert into stream_generation (generation)
    values ((extract(epoch from clock_timestamp()) * 1000)::bigint)
    on conflict (single) do nothing
  `)
}

export function readMoment(db: Db): Promise<MomentRow> {
  return db.one<MomentRow>(sql`
    select snapshot, history
      from (${moment}) m
  `)
}

export type FoundPage = MomentRow & { readonly rows: readonly StreamRow[]; readonly more: boolean }

/** Rows that `to` sees and `from` does not, by id. It is one statement, so its snapshot is the moment that it returns. */
export async function readPage(db: Db, at: PageAt): Promise<FoundPage> {
  const rows = await db.many<JoinedRow>(sql`
    with m as materialized (${moment})
    select m.snapshot, m.history, page.found, page.id, page.dataset, page.received_at, page.xid, page.data, page.webhook_id,
           page.origin_kind, page.origin_id, page.header_title, page.verified_scheme,
           page.submission_id, page.is_request, page.request_path, page.request_query, page.request_headers, page.request_body, page.request_bytes
      from m
      left join lateral (
        select id, dataset, received_at, xid, data, webhook_id, origin_kind, origin_id, header_title, verified_scheme,
               submission_id, is_request, request_path, request_query, request_headers, request_body, request_bytes,
               count(*) over () as found,
               sum(octet_length(data) + request_size) over (order by id rows between unbounded preceding and 1 preceding) as before
          from (${newRows(at)}) new_rows
      ) page on coalesce(page.before, 0) < ${at.bytesMax}
     order by page.id
  `)
  const [first] = rows
  if (first === undefined) throw new Error('The statement returned no row for its moment.')
  const found = rows.filter(isFound)
  return {
    snapshot: first.snapshot,
    history: first.history,
    rows: found,
    more: (first.found ?? 0) === at.rowsMax || found.length < (first.found ?? 0),
  }
}

function isFound(row: JoinedRow): row is JoinedRow & StreamRow {
  return row.id !== null
}

/** The size of the headers is estimated, not measured. */
const requestColumns: Sql = sql`
           s.origin_kind is null as is_request, s.path as request_path, s.query as request_query, s.headers::text as request_headers, s.body as request_body, s.body_bytes as request_bytes,
           s.body_size + 1024 as request_size`

const NO_REQUEST: Sql = sql`
           false as is_request, null::text as request_path, null::text as request_query, null::text as request_headers, null::text as request_body, null::bytea as request_bytes, 0 as request_size`

/** One dataset has an index in the order of ids. */
function ofDatasets(names: readonly string[] | undefined): Sql {
  const [only, more] = names ?? []
  if (names === undefined) return sql``
  return only !== undefined && more === undefined
    ? sql`and r.dataset = ${only}`
    : sql`and r.dataset = any (${names}::text[])`
}

/** Reads project by project, so that the index returns the rows of each one in order from the floor on. */
function newRows(at: PageAt): Sql {
  const { from, to, after, datasets } = at
  return sql`
    select r.id, r.dataset, r.received_at, r.xid, coalesce(r.data, s.body) as data, s.webhook_id,
           s.origin_kind, s.origin_id, ${headerTitle} as header_title, ${verifiedScheme(sql`s`)} as verified_scheme,
           r.submission_id, ${at.requests ? requestColumns : NO_REQUEST}
      from projects p
     cross join lateral (
       select r.id, r.workspace_id, r.project_id, r.submission_id, r.dataset, r.received_at, r.data, ${recordXid} as xid
         from records r
        where r.workspace_id = p.workspace_id
          and r.project_id = p.id
          and r.id >= ${uuidv7Floor(at.floor)}
          ${after === undefined ? sql`` : sql`and r.id > ${after}`}
          ${ofDatasets(datasets)}
          ${seesNothing(from) ? sql`` : unseenBy(from)}
          ${to === undefined ? sql`` : seenBy(to)}
        order by r.id
        limit ${at.rowsMax}
     ) r
      join submissions s
        on s.workspace_id = r.workspace_id
       and s.project_id = r.project_id
       and s.id = r.submission_id
     where p.workspace_id = ${at.workspaceId}
       ${at.projectId === null ? sql`` : sql`and p.id = ${at.projectId}`}
     order by r.id
     limit ${at.rowsMax}
  `
}

export type ChangesAt = StreamScope & {
  readonly from: Snapshot
  readonly to: Snapshot | undefined
  readonly after: string | undefined
  /** Milliseconds: deliveries created and attempts started before these times are skipped. */
  readonly madeFrom: number
  readonly begunFrom: number
  readonly rowsMax: number
}

type ChangedRow = MomentRow & { readonly [Name in keyof DeliveryRow]: DeliveryRow[Name] | null }

/** Deliveries that were created or tried between two moments, by id, in their current state. */
export async function readChangedDeliveries(
  db: Db,
  at: ChangesAt,
): Promise<MomentRow & { readonly rows: readonly DeliveryRow[]; readonly more: boolean }> {
  const { from, to, after } = at
  const here = sql`
    r.workspace_id = ${at.workspaceId}
    ${at.projectId === null ? sql`` : sql`and r.project_id = ${at.projectId}`}
    ${seesNothing(from) ? sql`` : unseenBy(from)}
    ${to === undefined ? sql`` : seenBy(to)}
  `
  const rows = await db.many<ChangedRow>(sql`
    with m as materialized (${moment})
    select m.snapshot, m.history, d.id, d.record_id, e.dataset, d.destination_id, d.state, d.pause_reason, d.attempt_count,
           d.next_attempt_at, d.last_status, d.last_error, d.created_at, d.updated_at
      from m
      left join lateral (
        select project_id, id
          from (select r.project_id, r.id
                  from projects p
                  join deliveries r on r.workspace_id = p.workspace_id and r.project_id = p.id
                 where p.workspace_id = ${at.workspaceId}
                   and r.id >= ${uuidv7Floor(at.madeFrom)}
                   and ${here}
                 union
                select r.project_id, r.delivery_id
                  from delivery_attempts r
                 where r.id >= ${uuidv7Floor(at.begunFrom)}
                   and ${here}) either
         ${after === undefined ? sql`` : sql`where id > ${after}`}
         order by id
         limit ${at.rowsMax}
      ) changed on true
      left join deliveries d
        on d.workspace_id = ${at.workspaceId}
       and d.project_id = changed.project_id
       and d.id = changed.id
      left join records e
        on e.workspace_id = d.workspace_id
       and e.project_id = d.project_id
       and e.id = d.record_id
     order by d.id
  `)
  const [first] = rows
  if (first === undefined) throw new Error('The statement returned no row for its moment.')
  const found = rows.filter(isDelivery)
  return {
    snapshot: first.snapshot,
    history: first.history,
    rows: found,
    more: rows.length === at.rowsMax && found.length > 0,
  }
}

/** A delivery whose record was removed after its retention is no longer shown. */
function isDelivery(row: ChangedRow): row is ChangedRow & DeliveryRow {
  return row.id !== null && row.dataset !== null
}

type CountedRejection = MomentRow & { readonly [Name in keyof RejectionRow]: RejectionRow[Name] | null }

/** Rows of the rejection log with new counts since `from`, in their current state: at most `rowsMax`, newest first. */
export async function readCountedRejections(
  db: Db,
  at: StreamScope & { from: Snapshot; countedFrom: number; rowsMax: number },
): Promise<MomentRow & { readonly rows: readonly RejectionRow[] }> {
  const { xmin, xmax, running } = at.from
  const rows = await db.many<CountedRejection>(sql`
    with m as materialized (${moment})
    select m.snapshot, m.history, c.id, c.webhook_id, c.ingest_key_id, c.reason, c.status, c.count, c.at, c.source_ip, c.method, c.content_type
      from m
      left join lateral (
        select r.id, r.webhook_id, r.ingest_key_id, r.reason, r.status, r.count, r.at, r.source_ip, r.method, r.content_type
          from projects p
          join rejections r on r.workspace_id = p.workspace_id and r.project_id = p.id
         where p.workspace_id = ${at.workspaceId}
           ${at.projectId === null ? sql`` : sql`and p.id = ${at.projectId}`}
           and r.id >= ${uuidv7Floor(at.countedFrom)}
           and r.counted_xid >= ${xmin}
           and (r.counted_xid >= ${xmax} or r.counted_xid = any (${running}::bigint[]))
         order by r.id desc
         limit ${at.rowsMax}
      ) c on true
     order by c.at
  `)
  const [first] = rows
  if (first === undefined) throw new Error('The statement returned no row for its moment.')
  return { snapshot: first.snapshot, history: first.history, rows: rows.filter(isRejection) }
}

function isRejection(row: CountedRejection): row is CountedRejection & RejectionRow {
  return row.id !== null
}

/** The first day with stored records, and the data that decides how long this workspace's records are stored and whether it had earlier ones. */
export function findRetention(
  db: Db,
  workspaceId: string,
): Promise<{ readonly day: Date | null; readonly plan: string; readonly created_at: Date } | undefined> {
  return db.maybe<{ day: Date | null; plan: string; created_at: Date }>(sql`
    select days.day, w.plan, w.created_at
      from workspaces w
     cross join (
             select min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp at time zone 'UTC' as day
               from pg_inherits i
               join pg_class c on c.oid = i.inhrelid
              where i.inhparent = 'records'::regclass
                and c.relname ~ '_[0-9]{8}$'
           ) days
     where w.id = ${workspaceId}
  `)
}

/** Locks the places of a workspace, so that two connections never take the last one. Call it in a transaction. */
export async function lockConnections(db: Db, workspaceId: string): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended('stream_connections ' || ${workspaceId}, 0))`)
}

/** Takes a place if there is one. Rows that were last confirmed before `staleBefore` no longer count. */
export async function takePlace(
  db: Db,
  at: { workspaceId: string; id: string; max: number; now: Date; staleBefore: Date },
): Promise<boolean> {
  await db.run(sql`
    delete from stream_connections
     where workspace_id = ${at.workspaceId}
       and seen_at < ${at.staleBefore}
  `)
  const taken = await db.run(sql`
    insert into stream_connections (workspace_id, id, seen_at)
    select ${at.workspaceId}::uuid, ${at.id}::uuid, ${at.now}::timestamptz
     where (select count(*) from stream_connections where workspace_id = ${at.workspaceId}) < ${at.max}
  `)
  return taken === 1
}

export async function confirmPlaces(
  db: Db,
  at: { places: readonly { workspaceId: string; id: string }[]; now: Date },
): Promise<void> {
  await db.run(sql`
    insert into stream_connections (workspace_id, id, seen_at)
    select workspace_id, id, ${at.now}
      from unnest(${at.places.map((place) => place.workspaceId)}::uuid[], ${at.places.map((place) => place.id)}::uuid[]) as place (workspace_id, id)
    on conflict (workspace_id, id) do update set seen_at = excluded.seen_at
  `)
}

export async function leavePlace(db: Db, at: { workspaceId: string; id: string }): Promise<void> {
  await db.run(sql`
    delete from stream_connections
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
  `)
}
