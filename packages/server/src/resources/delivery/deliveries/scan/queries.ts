import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import type { HeldFilter } from '../../delivery-holds/index.ts'
import type { DeliveryRow } from '../queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** The conditions on a delivery, checked in SQL; null: no condition. Conditions on its payload are checked afterwards. */
export type ScanFilter = {
  readonly states: readonly DeliveryRow['state'][] | null
  /** Also select deliveries that these lanes hold back; null: only those in the states. */
  readonly stuck: HeldFilter | null
  /** Select only deliveries that are held back in this way; null: no condition. */
  readonly held: HeldFilter | null
  readonly destinationId: string | null
  readonly recordId: string | null
  readonly webhookId: string | null
  readonly dataset: string | null
  /** Only of records before this id; absent: of all. */
  readonly recordBefore?: string
}

/** Ids between two exclusive bounds; null: no bound. */
export type Between = { readonly after: string | null; readonly before: string | null }

export type ScannedRow = DeliveryRow & {
  readonly submission_id: string
  /** Size of the payload in bytes. */
  readonly bytes: number
}

type Edge = { readonly scanned: number; readonly reached: string | null }
export type Page = Edge & { readonly rows: readonly ScannedRow[] }

const NOT_DELIVERED: readonly string[] = ['failed', 'cancelled']

const inOrder = (newestFirst: boolean): Sql => sql`id ${newestFirst ? sql`desc` : sql``}`

/**
 * The deliveries that one page looks at: the next `limit` along an index, whether or not they match, so a page costs the same
 * however rare a match is. Deliveries that failed or were canceled have their own index; a record has few deliveries.
 */
function scannedRows(at: At & Between & { filter: ScanFilter; newestFirst: boolean; limit: number }): Sql {
  const { states, stuck, destinationId, recordId } = at.filter
  const notDelivered = states !== null && stuck === null && states.every((state) => NOT_DELIVERED.includes(state))
  return sql`
    select id, record_id, destination_id, state, pause_reason, attempt_count, next_attempt_at, last_status, last_error, created_at, updated_at
      from deliveries
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       ${recordId === null ? sql`` : sql`and record_id = ${recordId}`}
       ${notDelivered ? sql`and state in ('failed', 'cancelled')` : destinationId === null ? sql`` : sql`and destination_id = ${destinationId}`}
       ${at.after === null ? sql`` : sql`and id > ${at.after}`}
       ${at.before === null ? sql`` : sql`and id < ${at.before}`}
     order by ${inOrder(at.newestFirst)}
     limit ${at.limit}
  `
}

/** True when delivery `d` is held back in one of these lanes. */
function isHeld(at: At, { lanes, off, ordered, now }: HeldFilter): Sql {
  const inLane = sql`exists (
                        select 1
                          from unnest(${lanes.map((lane) => lane.destinationId)}::uuid[], ${lanes.map((lane) => lane.until)}::timestamptz[])
                            as held (destination_id, until)
                         where held.destination_id = d.destination_id
                           and held.until >= d.next_attempt_at
                      ) or (d.pause_reason = 'destination_disabled' and d.destination_id = any (${off}::uuid[]))`
  const behind = sql`or (d.destination_id = any (${ordered}::uuid[])
                       and d.next_attempt_at <= ${now}
                       and exists (
                             select 1
                               from deliveries o
                               join deliveries e
                                 on e.workspace_id = o.workspace_id
                                and e.destination_id = o.destination_id
                                and e.order_key = o.order_key
                                and e.order_key is not null
                                and e.order_seq < o.order_seq
                                and e.state in ('pending', 'sending', 'retrying', 'paused')
                              where o.workspace_id = ${at.workspaceId}
                                and o.project_id = ${at.projectId}
                                and o.id = d.id
                           ))`
  return sql`(d.state in ('pending', 'retrying', 'paused') and (${inLane} ${ordered.length === 0 ? sql`` : behind}))`
}

/** True when delivery `d` is in one of these states or stuck in one of these lanes. */
export function inStates(
  at: At,
  { states, stuck }: { readonly states: readonly string[] | null; readonly stuck: HeldFilter | null },
): Sql {
  if (states === null) return sql`true`
  const inState = sql`d.state = any (${states}::text[])`
  return stuck === null ? inState : sql`(${inState} or ${isHeld(at, stuck)})`
}

/** The condition for a match on the delivery, its record and its submission. */
const matching = (
  at: At,
  { states, stuck, held, destinationId, webhookId, dataset, recordBefore }: ScanFilter,
): Sql => sql`
       true
       and ${inStates(at, { states, stuck })}
       ${recordBefore === undefined ? sql`` : sql`and d.record_id < ${recordBefore}`}
       ${held === null ? sql`` : sql`and ${isHeld(at, held)}`}
       ${destinationId === null ? sql`` : sql`and d.destination_id = ${destinationId}`}
       ${dataset === null ? sql`` : sql`and r.dataset = ${dataset}`}
       ${webhookId === null ? sql`` : sql`and s.webhook_id = ${webhookId}`}
`

/** Looks records up one by one by key: PostgreSQL would plan a join for a full page and read every day. */
const withRecord = (at: At): Sql => sql`
  cross join lateral (
          select submission_id, dataset, data
            from records
           where workspace_id = ${at.workspaceId}
             and project_id = ${at.projectId}
             and id = d.record_id
          offset 0
        ) r
`
const withSubmission = (at: At): Sql => sql`
  cross join lateral (
          select webhook_id, body_size
            from submissions
           where workspace_id = ${at.workspaceId}
             and project_id = ${at.projectId}
             and id = r.submission_id
          offset 0
        ) s
`

/**
 * One page with its first `matchesMax` matches; null: all. Looks records up in order and stops at the last match needed, because a
 * search for few matches would otherwise cost a whole page. `reached` is the last delivery of the page; null when the page is empty.
 * `ruled`: only events that came without an endpoint, because no other event meets rules.
 */
export async function scanPage(
  db: Db,
  at: At &
    Between & { filter: ScanFilter; newestFirst: boolean; limit: number; ruled: boolean; matchesMax: number | null },
): Promise<Page> {
  const order = inOrder(at.newestFirst)
  const found = await db.many<Edge & { readonly [Column in keyof ScannedRow]: ScannedRow[Column] | null }>(sql`
    with scanned as materialized (${scannedRows(at)})
    select edge.scanned, edge.reached, m.id, m.record_id, m.dataset, m.destination_id, m.state, m.pause_reason, m.attempt_count, m.next_attempt_at,
           m.last_status, m.last_error, m.created_at, m.updated_at, m.submission_id, m.bytes
      from (
             select count(*)::int as scanned, (array_agg(id order by ${inOrder(!at.newestFirst)}))[1] as reached
               from scanned
           ) edge
      left join (
             select d.id, d.record_id, r.dataset, d.destination_id, d.state, d.pause_reason, d.attempt_count, d.next_attempt_at,
                    d.last_status, d.last_error, d.created_at, d.updated_at, r.submission_id,
                    coalesce(octet_length(r.data), s.body_size) as bytes
               from (select * from scanned order by ${order} offset 0) d
               ${withRecord(at)}
               ${withSubmission(at)}
              where ${matching(at, at.filter)}
              ${at.ruled ? sql`and s.webhook_id is null` : sql``}
              order by d.${order}
              limit ${at.matchesMax}
           ) m on true
     order by m.${order}
  `)
  const [first] = found
  return {
    scanned: first?.scanned ?? 0,
    reached: first?.reached ?? null,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outer join leaves all columns of a match null, or none
    rows: found.filter((row) => row.id !== null) as unknown as readonly ScannedRow[],
  }
}

/** All matching deliveries of these records, those of the newest record first. */
export function listMatching(
  db: Db,
  at: At & { filter: ScanFilter; recordIds: readonly string[] },
): Promise<readonly ScannedRow[]> {
  return db.many<ScannedRow>(sql`
    select d.id, d.record_id, r.dataset, d.destination_id, d.state, d.pause_reason, d.attempt_count, d.next_attempt_at,
           d.last_status, d.last_error, d.created_at, d.updated_at, r.submission_id, coalesce(octet_length(r.data), s.body_size) as bytes
      from (
             select *
               from deliveries
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and record_id = any (${at.recordIds}::uuid[])
           ) d
           ${withRecord(at)}
           ${withSubmission(at)}
     where ${matching(at, at.filter)}
     order by d.record_id desc, d.id desc
  `)
}

export type CountedRow = {
  readonly destination_id: string
  readonly state: DeliveryRow['state']
  readonly count: number
}

/** Like `scanPage`, for a long page, but only counts the matches. */
export async function countPage(
  db: Db,
  at: At & Between & { filter: ScanFilter; limit: number },
): Promise<Edge & { readonly rows: readonly CountedRow[] }> {
  const { webhookId, dataset } = at.filter
  const found = await db.many<Edge & { readonly [Column in keyof CountedRow]: CountedRow[Column] | null }>(sql`
    with scanned as materialized (${scannedRows({ ...at, newestFirst: false })})
    select edge.scanned, edge.reached, m.destination_id, m.state, m.count
      from (
             select count(*)::int as scanned, (array_agg(id order by id desc))[1] as reached
               from scanned
           ) edge
      left join (
             select d.destination_id, d.state, count(*) as count
               from scanned d
               ${webhookId === null && dataset === null ? sql`` : withRecord(at)}
               ${webhookId === null ? sql`` : withSubmission(at)}
              where ${matching(at, at.filter)}
              group by d.destination_id, d.state
           ) m on true
  `)
  const [first] = found
  return {
    scanned: first?.scanned ?? 0,
    reached: first?.reached ?? null,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the outer join leaves all columns null, or none
    rows: found.filter((row) => row.count !== null) as unknown as readonly CountedRow[],
  }
}
