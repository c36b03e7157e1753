import { decodeId } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import { uuidv7Floor } from '../../../../platform/ids.ts'
import type { Piece } from '../spans.ts'

/** The statements for the lines of the map (docs/adr/0400): how many events went over each of them. */

export const FLOW_WAYS = ['received', 'refused', 'in', 'out'] as const
export type FlowWay = (typeof FLOW_WAYS)[number]
export const NIL = '00000000-0000-0000-0000-000000000000'

export type FlowRow = {
  readonly workspace_id: string
  readonly project_id: string
  readonly way: FlowWay
  readonly node_kind: string
  readonly node_id: string
  readonly rule_id: string
  readonly dataset: string
  readonly events: number
}
type CountedRow = Omit<FlowRow, 'rule_id'> & { readonly rule: string | null }

/** The rows of a table with the ids of a range, project by project along the key. `offset 0` preserves that order. */
const inRange = (columns: Sql, { table, from, to }: { table: Sql; from: string; to: string }): Sql => sql`
  select ${columns}
    from ${table} t
   where t.workspace_id = p.workspace_id
     and t.project_id = p.id
     and t.id >= ${from}
     and t.id < ${to}
  offset 0
`

/** The part of a project that sent the request. A workflow and an AI trigger are found by their run. */
const senderOf = (s: Sql): Sql => sql`
  case when ${s}.webhook_id is not null then 'webhook' when ${s}.ingest_key_id is not null then 'ingest_key' else ${s}.origin_kind end as kind,
  coalesce(${s}.webhook_id, ${s}.ingest_key_id, ${s}.origin_id) as sender_id
`
const SENDERS = sql`('webhook', 'ingest_key', 'source', 'cron_trigger', 'ws_trigger')`

/**
 * Counts of the minute by their line. A record counts in the minute of its id, and so do deliveries, workflow instances and AI
 * runs. Each record looks up its request, and each delivery its record, along their keys.
 */
export async function countFlows(db: Db, at: { from: number; to: number }): Promise<readonly FlowRow[]> {
  const [from, to] = [uuidv7Floor(at.from), uuidv7Floor(at.to)]
  const of = (table: Sql) => ({ table, from, to })
  const rows = await db.many<CountedRow>(sql`
    select p.workspace_id, p.id as project_id, flow.way, flow.node_kind, flow.node_id, flow.rule, flow.dataset, flow.events
      from projects p
     cross join lateral (
             select 'received' as way, sent.kind as node_kind, sent.sender_id as node_id, null as rule, '' as dataset, count(*) as events
               from (${inRange(senderOf(sql`t`), of(sql`submissions`))}) sent
              where sent.kind in ${SENDERS}
              group by 2, 3
              union all
             select 'refused', case when r.webhook_id is null then 'ingest_key' else 'webhook' end, coalesce(r.webhook_id, r.ingest_key_id), null, '', sum(r.count)::bigint
               from (${inRange(sql`t.webhook_id, t.ingest_key_id, t.count`, of(sql`rejections`))}) r
              where coalesce(r.webhook_id, r.ingest_key_id) is not null
              group by 2, 3
              union all
             select 'in', filed.kind, filed.sender_id, filed.rule, filed.dataset, count(*)
               from (
                      select case when run.trigger_id is not null then 'ai_trigger'
                                  when coalesce(run.instance_id, case when s.kind = 'workflow' then s.sender_id end) is not null then 'workflow'
                                  else s.kind end as kind,
                             coalesce(run.trigger_id, instance.workflow_id, case when s.kind in ${SENDERS} then s.sender_id end) as sender_id,
                             s.rule, r.dataset
                        from (${inRange(sql`t.id, t.dataset, t.submission_id`, of(sql`records`))}) r
                       cross join lateral (
                               select ${senderOf(sql`s`)},
                                      case when s.webhook_id is null and s.ingest_key_id is not null
                                           then s.decision -> 'rules' ->> (array_position(s.record_ids, r.id) - 1)
                                      end as rule
                                 from submissions s
                                where s.workspace_id = p.workspace_id
                                  and s.project_id = p.id
                                  and s.id = r.submission_id
                               offset 0
                             ) s
                        left join lateral (
                               select a.trigger_id, a.instance_id
                                 from ai_runs a
                                where s.kind = 'ai_run'
                                  and a.workspace_id = p.workspace_id
                                  and a.project_id = p.id
                                  and a.id = s.sender_id
                             ) run on true
                        left join lateral (
                               select i.workflow_id
                                 from workflow_instances i
                                where i.workspace_id = p.workspace_id
                                  and i.project_id = p.id
                                  and i.id = coalesce(run.instance_id, case when s.kind = 'workflow' then s.sender_id end)
                             ) instance on true
                    ) filed
              where filed.sender_id is not null
              group by 2, 3, 4, 5
              union all
             select 'out', 'destination', d.destination_id, null, r.dataset, count(*)
               from (${inRange(sql`t.destination_id, t.record_id`, of(sql`deliveries`))}) d
              cross join lateral (
                      select r.dataset
                        from records r
                       where r.workspace_id = p.workspace_id
                         and r.project_id = p.id
                         and r.id = d.record_id
                      offset 0
                    ) r
              group by 3, 5
              union all
             select 'out', 'workflow', i.workflow_id, null, i.dataset, count(*)
               from (${inRange(sql`t.workflow_id, t.dataset, t.started_by`, of(sql`workflow_instances`))}) i
              where i.started_by = 'record'
              group by 3, 5
              union all
             select 'out', 'ai_trigger', a.trigger_id, null, a.dataset, count(*)
               from (${inRange(sql`t.trigger_id, t.dataset`, of(sql`ai_runs`))}) a
              where a.trigger_id is not null
              group by 3, 5
           ) flow
  `)
  // The rule of an event from before plans were stored is not a plain id, so its records count without it.
  return rows.map(({ rule, ...row }) => ({ ...row, rule_id: decodeId('rule', rule ?? '') ?? NIL }))
}

const KEY = sql`workspace_id, project_id, way, node_kind, node_id, rule_id, dataset`

/** Replaces the counted minutes of lines. */
export async function putFlows(db: Db, { at, rows }: { at: Date; rows: readonly FlowRow[] }): Promise<void> {
  await db.run(sql`
    insert into flow_rollups (workspace_id, project_id, span_seconds, at, way, node_kind, node_id, rule_id, dataset, events)
    select workspace_id, project_id, 60, ${at}::timestamptz, way, node_kind, node_id, rule_id, dataset, sum(events)::bigint
      from (
             select unnest(${rows.map((row) => row.workspace_id)}::uuid[]) as workspace_id,
                    unnest(${rows.map((row) => row.project_id)}::uuid[]) as project_id,
                    unnest(${rows.map((row) => row.way)}::text[]) as way,
                    unnest(${rows.map((row) => row.node_kind)}::text[]) as node_kind,
                    unnest(${rows.map((row) => row.node_id)}::uuid[]) as node_id,
                    unnest(${rows.map((row) => row.rule_id)}::uuid[]) as rule_id,
                    unnest(${rows.map((row) => row.dataset)}::text[]) as dataset,
                    unnest(${rows.map((row) => row.events)}::bigint[]) as events
           ) row
     group by ${KEY}
    on conflict (workspace_id, project_id, span_seconds, at, way, node_kind, node_id, rule_id, dataset) do update
       set events = excluded.events
  `)
}

/** The hours of lines, summed from their minutes. */
export async function putFlowHours(db: Db, { from, to }: { from: Date; to: Date }): Promise<void> {
  await db.run(sql`
    insert into flow_rollups (workspace_id, project_id, span_seconds, at, way, node_kind, node_id, rule_id, dataset, events)
    select r.workspace_id, r.project_id, 3600, to_timestamp(floor(extract(epoch from r.at) / 3600) * 3600) as hour,
           r.way, r.node_kind, r.node_id, r.rule_id, r.dataset, sum(r.events)::bigint
      from projects p
     cross join lateral (
             select ${KEY}, at, events
               from flow_rollups f
              where f.workspace_id = p.workspace_id
                and f.project_id = p.id
                and f.span_seconds = 60
                and f.at >= ${from}
                and f.at < ${to}
             offset 0
           ) r
     group by r.workspace_id, r.project_id, hour, r.way, r.node_kind, r.node_id, r.rule_id, r.dataset
    on conflict (workspace_id, project_id, span_seconds, at, way, node_kind, node_id, rule_id, dataset) do update
       set events = excluded.events
  `)
}

type InProject = { readonly workspaceId: string; readonly projectId: string; readonly pieces: readonly Piece[] }

const rowsIn = ({ workspaceId, projectId, pieces }: InProject): Sql => sql`
  select r.way, r.node_kind, r.node_id, r.rule_id, r.dataset, r.events
    from unnest(
           ${pieces.map((piece) => piece.spanSeconds)}::int[],
           ${pieces.map((piece) => new Date(piece.from))}::timestamptz[],
           ${pieces.map((piece) => new Date(piece.to))}::timestamptz[]
         ) as piece (span_seconds, first, until)
   cross join lateral (
           select f.way, f.node_kind, f.node_id, f.rule_id, f.dataset, f.events
             from flow_rollups f
            where f.workspace_id = ${workspaceId}
              and f.project_id = ${projectId}
              and f.span_seconds = piece.span_seconds
              and f.at >= piece.first
              and f.at < piece.until
           offset 0
         ) r
`

export type FlowSums = {
  readonly way: FlowWay
  readonly node_kind: string
  readonly node_id: string
  readonly rule_id: string
  readonly dataset: string
  readonly events: number
}

/** The events on each line in a range. */
export function sumFlows(db: Db, at: InProject): Promise<readonly FlowSums[]> {
  return db.many<FlowSums>(sql`
    select way, node_kind, node_id, rule_id, dataset, sum(events)::bigint as events
      from (${rowsIn(at)}) found
     group by way, node_kind, node_id, rule_id, dataset
  `)
}

/** The first minute from which lines are counted; undefined: from the first event. */
export async function findFlowsSince(db: Db): Promise<Date | undefined> {
  const row = await db.maybe<{ flows_since: Date | null }>(sql`select flows_since from rollup_progress`)
  return row?.flows_since ?? undefined
}
