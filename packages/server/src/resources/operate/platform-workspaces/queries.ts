import { sql, type Db, type Sql } from '../../../platform/db.ts'
import type { CountedRange } from '../../workspace/rollups/index.ts'

/** The statements of this room read the workspaces of all people, one page at a time. */

export type PlatformRow = {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly plan: string
  readonly suspended_at: Date | null
  readonly suspended_reason: string | null
  readonly closed_at: Date | null
  readonly created_at: Date
  readonly members: number
  readonly network_restricted: boolean
  /** Counted exactly, where a limit of the plan counts it. */
  readonly events: number
  readonly deliveries: number
}

const stateOf: Sql = sql`case when w.suspended_at is not null then 'suspended' when w.closed_at is not null then 'closed' else 'active' end`

/** The page is selected first, so that members are counted only for its workspaces. */
export function listPlatform(
  db: Db,
  at: {
    id: string | null
    before: string | null
    q: string | null
    state: string | null
    month: string
    limit: number
  },
): Promise<readonly PlatformRow[]> {
  return db.many<PlatformRow>(sql`
    with page as materialized (
           select w.id, w.slug, w.name, w.plan, w.suspended_at, w.suspended_reason, w.closed_at, w.created_at
             from workspaces w
            where (${at.id}::uuid is null or w.id = ${at.id})
              and (${at.before}::uuid is null or w.id < ${at.before})
              and (${at.q}::text is null or position(lower(${at.q}) in lower(w.slug)) > 0 or position(lower(${at.q}) in lower(w.name)) > 0)
              and (${at.state}::text is null or ${stateOf} = ${at.state})
            order by w.id desc
            limit ${at.limit}
         )
    select page.id, page.slug, page.name, page.plan, page.suspended_at, page.suspended_reason, page.closed_at, page.created_at,
           (select count(*)::int from members m where m.workspace_id = page.id) as members,
           exists (select from network_access n where n.workspace_id = page.id and n.ip_allowlist <> '{}') as network_restricted,
           coalesce(used.events, 0) as events,
           coalesce(used.deliveries, 0) as deliveries
      from page
      left join monthly_usage used
        on used.workspace_id = page.id
       and used.month = ${at.month}::date
     order by page.id desc
  `)
}

export type CountedRow = { readonly workspace_id: string; readonly this_month: number; readonly retained: number }

/** Accepted requests according to the rollups: in this month, and since the first day that each plan retains. */
export function countEvents(
  db: Db,
  at: {
    workspaceIds: readonly string[]
    since: readonly Date[]
    month: string
    pieces: CountedRange['pieces']
  },
): Promise<readonly CountedRow[]> {
  return db.many<CountedRow>(sql`
    select w.id as workspace_id,
           coalesce(sum(r.submissions) filter (where r.at >= ${at.month}::date), 0)::bigint as this_month,
           coalesce(sum(r.submissions) filter (where r.at >= w.since), 0)::bigint as retained
      from unnest(${at.workspaceIds}::uuid[], ${at.since}::timestamptz[]) as w (id, since)
      join projects p on p.workspace_id = w.id and p.deleted_at is null
     cross join unnest(
             ${at.pieces.map((piece) => piece.spanSeconds)}::int[],
             ${at.pieces.map((piece) => new Date(piece.from))}::timestamptz[],
             ${at.pieces.map((piece) => new Date(piece.to))}::timestamptz[]
           ) as piece (span_seconds, first, until)
     cross join lateral (
             select r.at, r.submissions
               from project_rollups r
              where r.workspace_id = w.id
                and r.project_id = p.id
                and r.span_seconds = piece.span_seconds
                and r.at >= piece.first
                and r.at < piece.until
             offset 0
           ) r
     group by w.id
  `)
}
