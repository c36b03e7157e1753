import type { VerifiedScheme } from '@postroad/contract'
import type { Snapshot } from '../../../../domain/serving/snapshot.ts'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import { uuidv7Floor } from '../../../../platform/ids.ts'
import { verifiedScheme } from '../../../capture/submissions/index.ts'
import { acceptedStatus } from '../../../capture/webhooks/index.ts'
import { moment, seenBy, unseenBy } from '../../stream/index.ts'

/**
 * The rows that forwarders send: those that became visible between two snapshots, in the order of their ids (docs/adr/0008).
 * Each statement reads the rooms of one project, and changes nothing.
 */

export type RowsAt = {
  readonly workspaceId: string
  readonly projectId: string
  readonly from: Snapshot
  readonly to: Snapshot
  /** Milliseconds: every row that `from` does not see has an id from this time or later. */
  readonly floor: number
  /** Rows from before this time are lost, and are not read. */
  readonly since: number
  readonly after: string | null
  readonly rowsMax: number
}

const isAfter = (after: string | null): Sql => (after === null ? sql`` : sql`and r.id > ${after}`)
const floorOf = ({ floor, since }: RowsAt): string => uuidv7Floor(Math.max(floor, since))

/** Rows whose ids are made when they are stored, and which never change. */
const between = (at: RowsAt): Sql => sql`
       and r.id >= ${floorOf(at)}
       ${isAfter(at.after)}
       ${unseenBy(at.from)}
       ${seenBy(at.to)}
     order by r.id
     limit ${at.rowsMax}
`

export type SubmissionRow = {
  readonly id: string
  readonly webhook_id: string | null
  readonly ingest_key_id: string | null
  readonly origin_kind: string | null
  readonly verified_scheme: VerifiedScheme | null
  readonly received_at: Date
  readonly source_ip: string | null
  readonly content_type: string | null
  readonly status: number
  readonly body_size: number
  readonly record_ids: readonly string[]
  readonly traceparent: string | null
  /** null: payloads are not sent. */
  readonly headers: string | null
  readonly query: string | null
  /** null: payloads are not sent, or the body is too long, or it is not text. */
  readonly body: string | null
}

const PAYLOAD = (bytesMax: number): Sql => sql`
       r.query, r.headers::text as headers, case when r.body_size <= ${bytesMax} then r.body end as body`
const NO_PAYLOAD: Sql = sql`
       null::text as query, null::text as headers, null::text as body`

/** `bodyBytesMax` null: without headers and body. */
export function readSubmissions(
  db: Db,
  at: RowsAt & { bodyBytesMax: number | null },
): Promise<readonly SubmissionRow[]> {
  const status = acceptedStatus({ ...at, webhookId: sql`r.webhook_id`, at: sql`r.received_at` })
  return db.many<SubmissionRow>(sql`
    with m as materialized (${moment})
    select r.id, r.webhook_id, r.ingest_key_id, r.origin_kind, ${verifiedScheme(sql`r`)} as verified_scheme, r.received_at, r.source_ip, r.content_type, r.body_size, r.record_ids,
           ${status} as status, r.headers ->> 'traceparent' as traceparent, ${at.bodyBytesMax === null ? NO_PAYLOAD : PAYLOAD(at.bodyBytesMax)}
      from m
     cross join submissions r
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       ${between(at)}
  `)
}

export type AttemptRow = {
  readonly id: string
  readonly delivery_id: string
  readonly destination_id: string
  readonly number: number
  readonly trigger: string
  readonly started_at: Date
  readonly duration_ms: number | null
  readonly outcome: 'succeeded' | 'failed' | 'interrupted' | null
  readonly response_status: number | null
  readonly error_code: string | null
  readonly error_detail: string | null
  readonly next_attempt_at: Date | null
  /** Whether the end of the round sees the row as it is. */
  readonly seen: boolean
  /** null: the event was removed. */
  readonly record_id: string | null
  readonly submission_id: string | null
  readonly dataset: string | null
  readonly destination_name: string | null
  readonly url: string | null
  /** The attempt ended its delivery, for the first time. */
  readonly ends: boolean
}

/** Attempts change once, when they end, so those that were open are looked up by their ids. */
export function readAttempts(db: Db, at: RowsAt & { open: readonly string[] }): Promise<readonly AttemptRow[]> {
  return db.many<AttemptRow>(sql`
    with m as materialized (${moment}), found as materialized (
      (select r.id
         from m
        cross join delivery_attempts r
        where r.workspace_id = ${at.workspaceId}
          and r.project_id = ${at.projectId}
          and r.id >= ${floorOf(at)}
          ${isAfter(at.after)}
          ${unseenBy(at.from)}
        order by r.id
        limit ${at.rowsMax})
        union
       select r.id
         from delivery_attempts r
        where r.workspace_id = ${at.workspaceId}
          and r.project_id = ${at.projectId}
          and r.id = any (${at.open}::uuid[])
          ${isAfter(at.after)}
    )
    select r.id, r.delivery_id, r.destination_id, r.number, r.trigger, r.started_at, r.duration_ms, r.outcome, r.response_status,
           r.error_code, r.error_detail, r.next_attempt_at, (true ${seenBy(at.to)}) as seen, d.record_id, e.submission_id, e.dataset,
           t.name as destination_name, t.url,
           r.outcome is not null
             and (r.outcome = 'succeeded' or r.outcome = 'failed' and r.next_attempt_at is null and d.state = 'failed' and d.attempt_count = r.number)
             and not exists (
                   select 1
                     from delivery_attempts p
                    where p.workspace_id = r.workspace_id
                      and p.delivery_id = r.delivery_id
                      and p.trigger = 'replay'
                      and p.number <= r.number
                 ) as ends
      from m
     cross join (select id from found order by id limit ${at.rowsMax}) f
      join delivery_attempts r on r.workspace_id = ${at.workspaceId} and r.id = f.id
      left join deliveries d on d.workspace_id = r.workspace_id and d.project_id = r.project_id and d.id = r.delivery_id
      left join records e on e.workspace_id = r.workspace_id and e.project_id = r.project_id and e.id = d.record_id
      left join destinations t on t.workspace_id = r.workspace_id and t.id = r.destination_id
     order by r.id
  `)
}

export type RejectionRow = {
  readonly id: string
  readonly webhook_id: string | null
  readonly ingest_key_id: string | null
  readonly reason: string
  readonly status: number
  readonly count: number
  readonly at: Date
  readonly source_ip: string | null
  readonly method: string
  readonly content_type: string | null
  readonly seen: boolean
}

/** Rejections are counted for a minute, and a column names the transaction that counted last. */
export function readRejections(db: Db, at: RowsAt & { open: readonly string[] }): Promise<readonly RejectionRow[]> {
  const { from, to } = at
  return db.many<RejectionRow>(sql`
    select r.id, r.webhook_id, r.ingest_key_id, r.reason, r.status, r.count, r.at, r.source_ip, r.method, r.content_type,
           r.counted_xid < ${to.xmax} and r.counted_xid <> all (${to.running}::bigint[]) as seen
      from rejections r
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       ${isAfter(at.after)}
       and (r.id = any (${at.open}::uuid[])
            or r.id >= ${floorOf(at)}
               and r.counted_xid >= ${from.xmin}
               and (r.counted_xid >= ${from.xmax} or r.counted_xid = any (${from.running}::bigint[])))
     order by r.id
     limit ${at.rowsMax}
  `)
}

/** An instance and a run are sent when they have ended; an index has them by that time. */
const ended = (at: RowsAt): Sql => sql`
       and r.ended_at >= ${new Date(Math.max(at.floor, at.since))}
       ${isAfter(at.after)}
       ${unseenBy(at.from)}
       ${seenBy(at.to)}
     order by r.id
     limit ${at.rowsMax}
`

export type InstanceRow = {
  readonly id: string
  readonly workflow_id: string
  readonly workflow: string | null
  readonly version: number
  readonly record_id: string
  readonly submission_id: string | null
  readonly dataset: string
  readonly state: string
  readonly error: { readonly error?: string } | null
  readonly created_at: Date
  readonly ended_at: Date
}

export function readInstances(db: Db, at: RowsAt): Promise<readonly InstanceRow[]> {
  return db.many<InstanceRow>(sql`
    with m as materialized (${moment})
    select r.id, r.workflow_id, w.name as workflow, r.version, r.record_id, e.submission_id, r.dataset, r.state, r.error, r.created_at, r.ended_at
      from m
     cross join workflow_instances r
      left join workflows w on w.workspace_id = r.workspace_id and w.project_id = r.project_id and w.id = r.workflow_id
      left join records e on e.workspace_id = r.workspace_id and e.project_id = r.project_id and e.id = r.record_id
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       ${ended(at)}
  `)
}

export type AiRunRow = {
  readonly id: string
  readonly agent_id: string
  readonly agent: string | null
  readonly model: string | null
  readonly instance_id: string | null
  readonly record_id: string
  readonly submission_id: string | null
  readonly dataset: string
  readonly state: string
  readonly error: { readonly error?: string } | null
  readonly input_tokens: number
  readonly output_tokens: number
  readonly created_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date
}

export function readAiRuns(db: Db, at: RowsAt): Promise<readonly AiRunRow[]> {
  return db.many<AiRunRow>(sql`
    with m as materialized (${moment})
    select r.id, r.agent_id, g.name as agent, coalesce(g.model, p.default_model) as model, r.instance_id, r.record_id, e.submission_id,
           r.dataset, r.state, r.error, r.input_tokens, r.output_tokens, r.created_at, r.started_at, r.ended_at
      from m
     cross join ai_runs r
      left join ai_agents g on g.workspace_id = r.workspace_id and g.project_id = r.project_id and g.id = r.agent_id
      left join ai_providers p on p.workspace_id = g.workspace_id and p.project_id = g.project_id and p.id = g.provider_id
      left join records e on e.workspace_id = r.workspace_id and e.project_id = r.project_id and e.id = r.record_id
     where r.workspace_id = ${at.workspaceId}
       and r.project_id = ${at.projectId}
       ${ended(at)}
  `)
}

export type StepRow = {
  readonly instance_id: string
  readonly seq: number
  readonly step_id: string
  readonly type: string
  readonly state: string
  readonly attempt: number
  readonly started_at: Date
  readonly ended_at: Date | null
}

/** The steps of instances, up to a limit for each. */
export function readSteps(
  db: Db,
  at: { workspaceId: string; projectId: string; ids: readonly string[]; perInstanceMax: number },
): Promise<readonly StepRow[]> {
  return db.many<StepRow>(sql`
    select s.instance_id, s.seq, s.step_id, s.type, s.state, s.attempt, s.started_at, s.ended_at
      from unnest(${at.ids}::uuid[]) as i (id)
     cross join lateral (
             select instance_id, seq, step_id, type, state, attempt, started_at, ended_at
               from workflow_step_runs
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and instance_id = i.id
              order by seq
              limit ${at.perInstanceMax}
           ) s
     order by s.instance_id, s.seq
  `)
}

export type AuditRow = {
  readonly id: string
  readonly at: Date
  readonly actor: string
  readonly agent: string | null
  readonly action: string
  readonly target: string | null
  readonly ip: string | null
  readonly details: string
}

/** The audit log belongs to the workspace. */
export function readAuditRows(db: Db, at: RowsAt): Promise<readonly AuditRow[]> {
  return db.many<AuditRow>(sql`
    with m as materialized (${moment})
    select r.id, r.at, r.actor, r.agent, r.action, r.target, r.ip, r.details
      from m
     cross join audit_rows r
     where r.workspace_id = ${at.workspaceId}
       ${between(at)}
  `)
}
