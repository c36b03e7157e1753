import { LIMITS, type RejectionReason } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../platform/db.ts'
import { uuidv7Floor } from '../../../platform/ids.ts'
import type { DeliveryRow } from '../../delivery/deliveries/index.ts'
import { acceptedStatus } from '../webhooks/index.ts'

/** The requests to one endpoint since a time (ms). Its indexes omit the project, because an endpoint belongs to one. */
export type Window = {
  readonly workspaceId: string
  readonly projectId: string
  readonly webhookId: string
  readonly kind: 'all' | 'received' | 'rejected'
  readonly since: number
}

// Submissions and rejections are read from an index alone, newest first, up to the end of the page. Counts are ordered
// too: otherwise PostgreSQL may read a whole day of the submissions of every workspace.
const received = ({ workspaceId, webhookId, kind, since }: Window): Sql => sql`
  from submissions
 where workspace_id = ${workspaceId}
   and webhook_id = ${webhookId}
   and id >= ${uuidv7Floor(since)}
   ${kind === 'rejected' ? sql`and false` : sql``}
`
const rejected = ({ workspaceId, webhookId, kind, since }: Window): Sql => sql`
  from rejections
 where workspace_id = ${workspaceId}
   and webhook_id = ${webhookId}
   and at >= ${new Date(since)}
   ${kind === 'received' ? sql`and false` : sql``}
`

/** The time in the id of a submission, which replaces the time of the request in an index. */
const madeAt: Sql = sql`to_timestamp((('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint) / 1000.0)`

/** The number of rows, counted up to `max`. */
export async function countRows(db: Db, window: Window & { max: number }): Promise<number> {
  const { total } = await db.one<{ total: number }>(sql`
    select least(${window.max}::bigint,
                 (select count(*) from (select 1 ${received(window)} order by id desc limit ${window.max}) s) +
                 (select count(*) from (select 1 ${rejected(window)} order by at desc limit ${window.max}) r)) as total
  `)
  return total
}

/** A key is known for a week, so older submissions have no new repeats. */
const KNOWN_MS = LIMITS.idempotencyRetentionMs

const repeated = ({ workspaceId, webhookId, since }: Window): Sql => sql`
  select coalesce(sum(duplicates) filter (where duplicate_at >= ${new Date(since)}), 0)::bigint as duplicates,
         count(*) filter (where key_reused and id >= ${uuidv7Floor(since)}) as key_reused
    from submissions
   where workspace_id = ${workspaceId}
     and webhook_id = ${webhookId}
     and id >= ${uuidv7Floor(since - KNOWN_MS)}
     and (duplicates is not null or key_reused)
`

export type SummaryRow = {
  readonly received: number
  readonly rejected: number
  readonly duplicates: number
  readonly key_reused: number
  readonly last_received_at: Date | null
  readonly last_rejected_at: Date | null
}

/** The summary of both kinds, whatever kind the window selects. Counts at most `max` submissions. */
export function summarize(db: Db, window: Window & { max: number }): Promise<SummaryRow> {
  const all = { ...window, kind: 'all' } as const
  return db.one<SummaryRow>(sql`
    select (select count(*) from (select 1 ${received(all)} order by id desc limit ${window.max}) s) as received,
           r.rejected, d.duplicates, d.key_reused,
           (select received_at ${received(all)} order by id desc limit 1) as last_received_at,
           r.last_rejected_at
      from (select coalesce(sum(count), 0)::bigint as rejected, max(at) as last_rejected_at ${rejected(all)}) r
     cross join (${repeated(window)}) d
  `)
}

export type ActivityRow = {
  readonly kind: 'received' | 'rejected'
  readonly id: string
  readonly at: Date
  readonly reason: RejectionReason | null
  readonly status: number
  readonly count: number
  readonly source_ip: string | null
  readonly method: string
  readonly content_type: string | null
  readonly record_ids: readonly string[] | null
}

/**
 * One page. It merges keys from the two indexes and looks up only the rows of the page, one by one: PostgreSQL would plan a join for
 * many rows and read all of them.
 */
export function listRows(db: Db, window: Window & { offset: number; limit: number }): Promise<readonly ActivityRow[]> {
  const { workspaceId, projectId, webhookId, offset, limit } = window
  const first = offset + limit
  const sentStatus = acceptedStatus({ workspaceId, projectId, webhookId, at: sql`s.received_at` })
  return db.many<ActivityRow>(sql`
    with page as (
      select kind, id, made_at
        from (
               (select 'received' as kind, id, ${madeAt} as made_at ${received(window)} order by id desc limit ${first})
               union all
               (select 'rejected', id, at ${rejected(window)} order by at desc limit ${first})
             ) both_kinds
       order by made_at desc, id desc
      offset ${offset}
       limit ${limit}
    )
    select p.kind, p.id, coalesce(s.received_at, r.at) as at, r.reason, coalesce(r.status, ${sentStatus}) as status, coalesce(r.count, 1) as count,
           coalesce(s.source_ip, r.source_ip) as source_ip, coalesce(r.method, 'POST') as method,
           coalesce(s.content_type, r.content_type) as content_type, s.record_ids
      from page p
      left join lateral (
        select received_at, source_ip, content_type, record_ids
          from submissions
         where workspace_id = ${workspaceId}
           and project_id = ${projectId}
           and id = p.id
         limit 1
      ) s on p.kind = 'received'
      left join lateral (
        select at, reason, status, count, source_ip, method, content_type
          from rejections
         where workspace_id = ${workspaceId}
           and project_id = ${projectId}
           and id = p.id
         limit 1
      ) r on p.kind = 'rejected'
     order by p.made_at desc, p.id desc
  `)
}

export type Forward = Pick<
  DeliveryRow,
  'id' | 'record_id' | 'destination_id' | 'state' | 'pause_reason' | 'next_attempt_at'
>

/** The deliveries of records. A delivery is created with its record. */
export function listForwards(
  db: Db,
  at: { workspaceId: string; recordIds: readonly string[] },
): Promise<readonly Forward[]> {
  return db.many<Forward>(sql`
    select id, record_id, destination_id, state, pause_reason, next_attempt_at
      from deliveries
     where workspace_id = ${at.workspaceId}
       and record_id = any (${at.recordIds}::uuid[])
  `)
}
