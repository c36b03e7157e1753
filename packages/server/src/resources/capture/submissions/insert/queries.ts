import { sql, texts, type Db, type Sql } from '../../../../platform/db.ts'
import { begunBy } from '../../../../platform/server-facts.ts'

/** Everything that one 201 promises, as rows. */
export type EventRows = {
  readonly workspaceId: string
  readonly projectId: string
  readonly submission: {
    readonly id: string
    readonly webhookId: string | null
    readonly ingestKeyId: string | null
    readonly receivedAt: number
    readonly hops: number
    /** The event from which everything follows that this event starts. */
    readonly rootId: string
    readonly chain: string | null
    readonly sourceIp: string | null
    readonly contentType: string | null
    readonly headers: string
    readonly query: string | null
    /** null: no sender sent the event. */
    readonly path: string | null
    readonly body: string | null
    readonly bodyHex: string | null
    readonly bodySize: number
    readonly decision: string
    /** The part of the project that made an event without a sender. */
    readonly origin: { readonly kind: string; readonly id: string } | null
  }
  readonly records: readonly {
    readonly id: string
    readonly dataset: string
    readonly data: string | null
    readonly isWhole?: boolean
  }[]
  readonly deliveries: readonly {
    readonly id: string
    readonly recordId: string
    readonly destinationId: string
    readonly pauseReason: string | null
    readonly orderKey?: string | undefined
    readonly start?: FirstAttempt | undefined
  }[]
  /** Workflow instances that its records start. */
  readonly starts: readonly {
    readonly id: string
    readonly workflowId: string
    readonly version: number
    readonly recordId: string
    readonly dataset: string
  }[]
  /** Runs of AI agents that its records start. */
  readonly runs: readonly {
    readonly id: string
    readonly triggerId: string
    readonly agentId: string
    readonly recordId: string
    readonly dataset: string
  }[]
  /** Datasets that no event named before. */
  readonly newDatasets: readonly { readonly id: string; readonly name: string }[]
}

/** The first attempt of a delivery. The statement starts it if the fence of the lane is the current one. */
export type FirstAttempt = { readonly attemptId: string; readonly fence: number; readonly at: Date }

/**
 * The one commit: submissions, records, deliveries, workflow instances, AI runs and new datasets of a whole batch in
 * one statement, so a process can die at any instruction, and every 201 stays true. It is the only statement that
 * writes the tables of six rooms.
 */
export async function insertEvents(db: Db, events: readonly EventRows[]): Promise<void> {
  await db.run(sql`with ${insertingEvents(events)}`)
}

/** The ids of the submissions that a statement stored, and of the attempts that it started. */
export type StoredIds = ReadonlySet<string>

/** Like `insertEvents`, unless it starts after `deadline` by PostgreSQL's clock. */
export async function insertEventsBy(db: Db, deadline: Date, events: readonly EventRows[]): Promise<StoredIds> {
  return idsOf(await db.many<{ id: string }>(sql`with ${insertingEvents(events, sql`where ${begunBy(deadline)}`)}`))
}

const idsOf = (rows: readonly { id: string }[]): StoredIds => new Set(rows.map((row) => row.id))

export type PermittedEvents = {
  readonly deadline: Date
  readonly events: readonly EventRows[]
  /** A statement that selects the events to store by their `submission_id`. It runs first. */
  readonly permitted: Sql
  /** Events that are stored in any case. */
  readonly anyway: readonly EventRows[]
}

/** Like `insertEvents`, but SQL of another room selects the events to store. */
export async function insertPermittedEvents(
  db: Db,
  { deadline, events, permitted, anyway }: PermittedEvents,
): Promise<StoredIds> {
  const rows = await db.many<{ id: string }>(sql`
    with permitted as (${permitted}),
         stored as (
           select submission_id
             from permitted
            union all
           select submission_id
             from unnest(${anyway.map(({ submission }) => submission.id)}::uuid[]) as submission_id
            where ${begunBy(deadline)}
         ),
         ${insertingEvents([...events, ...anyway], sql`where submission_id in (select submission_id from stored)`)}
  `)
  return idsOf(rows)
}

function insertingEvents(events: readonly EventRows[], which = sql``): Sql {
  const records = events.flatMap((event) => event.records.map((record) => ({ ...record, event })))
  const deliveries = events.flatMap((event) => event.deliveries.map((delivery) => ({ ...delivery, event })))
  const datasets = events.flatMap((event) => event.newDatasets.map((dataset) => ({ ...dataset, event })))
  const starts = events.flatMap((event) => event.starts.map((start) => ({ ...start, event })))
  const runs = events.flatMap((event) => event.runs.map((run) => ({ ...run, event })))
  const begun = deliveries.flatMap(({ start, ...delivery }) => (start === undefined ? [] : [{ ...delivery, ...start }]))
  // Most batches name no new dataset, and many have no delivery. PostgreSQL then need not open those tables.
  return sql`
    new_records as (${insertRecords(records, which)})
    ${begun.length === 0 ? sql`` : sql`, held as materialized (${lockHeld(begun)})`}
    ${deliveries.length === 0 ? sql`` : sql`, new_deliveries as (${insertDeliveries(deliveries, which)})`}
    ${begun.length === 0 ? sql`` : sql`, new_attempts as (${insertAttempts(begun)})`}
    ${starts.length === 0 ? sql`` : sql`, new_instances as (${insertInstances(starts, which)})`}
    ${runs.length === 0 ? sql`` : sql`, new_runs as (${insertRuns(runs, which)})`}
    ${datasets.length === 0 ? sql`` : sql`, new_datasets as (${insertDatasets(datasets)})`}
    ${
      begun.length === 0
        ? insertSubmissions(events, which)
        : sql`, new_submissions as (${insertSubmissions(events, which)}) select id from new_submissions union all select id from new_attempts`
    }`
}

type Of<Row> = readonly (Row & { readonly event: EventRows })[]

// Each of these unnests the arrays side by side in the select list, because PostgreSQL would materialize them as a table in `from`.
function insertSubmissions(events: readonly EventRows[], which: Sql): Sql {
  const rows = events.map((event) => event.submission)
  const rare = RARE.filter(({ isIn }) => rows.some(isIn))
  const names = joined(rare.map((column) => column.names))
  return sql`
    insert into submissions (workspace_id, project_id, id, webhook_id, ingest_key_id, received_at, source_ip,
                             content_type, headers, body, body_bytes, body_size, decision, record_ids
                             ${names})
    select workspace_id, project_id, submission_id, webhook_id, ingest_key_id, to_timestamp(received_ms / 1000), source_ip,
           content_type, headers::json, body, decode(body_hex, 'hex'), body_size, decision::json, record_ids::uuid[]
           ${names}
      from (
             select unnest(${events.map((event) => event.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${events.map((event) => event.projectId)}::uuid[]) as project_id,
                    unnest(${rows.map((row) => row.id)}::uuid[]) as submission_id,
                    unnest(${rows.map((row) => row.webhookId)}::uuid[]) as webhook_id,
                    unnest(${rows.map((row) => row.ingestKeyId)}::uuid[]) as ingest_key_id,
                    unnest(${rows.map((row) => row.receivedAt)}::float8[]) as received_ms,
                    unnest(${rows.map((row) => row.sourceIp)}::text[]) as source_ip,
                    unnest(${rows.map((row) => row.contentType)}::text[]) as content_type,
                    unnest(${texts(rows.map((row) => row.headers))}) as headers,
                    unnest(${texts(rows.map((row) => row.body))}) as body,
                    unnest(${rows.map((row) => row.bodyHex)}::text[]) as body_hex,
                    unnest(${rows.map((row) => row.bodySize)}::int[]) as body_size,
                    unnest(${texts(rows.map((row) => row.decision))}) as decision,
                    ${joined(rare.map((column) => column.unnested(rows)))}
                    unnest(${events.map((event) => `{${event.records.map((record) => record.id).join(',')}}`)}::text[]) as record_ids
           ) row
     ${which}
    returning id`
}

type SubmissionRows = readonly EventRows['submission'][]
type RareColumn = {
  readonly isIn: (row: SubmissionRows[number]) => boolean
  readonly names: Sql
  readonly unnested: (rows: SubmissionRows) => Sql
}

/** The columns that most events leave empty. A statement names them only when a row of its batch has one. */
const RARE: readonly RareColumn[] = [
  {
    isIn: ({ chain }) => chain !== null,
    names: sql`, chain`,
    unnested: (rows) => sql`unnest(${rows.map(({ chain }) => chain)}::text[]) as chain,`,
  },
  {
    isIn: ({ origin }) => origin !== null,
    names: sql`, origin_kind, origin_id`,
    unnested: (rows) => sql`
      unnest(${rows.map(({ origin }) => origin?.kind ?? null)}::text[]) as origin_kind,
      unnest(${rows.map(({ origin }) => origin?.id ?? null)}::uuid[]) as origin_id,`,
  },
  {
    isIn: ({ query }) => query !== null,
    names: sql`, query`,
    unnested: (rows) => sql`unnest(${texts(rows.map(({ query }) => query))}) as query,`,
  },
  {
    isIn: ({ path }) => path !== null,
    names: sql`, path`,
    unnested: (rows) => sql`unnest(${texts(rows.map(({ path }) => path))}) as path,`,
  },
]

const joined = (parts: readonly Sql[]): Sql => parts.reduce((all, one) => sql`${all} ${one}`, sql``)

function insertRecords(records: Of<EventRows['records'][number]>, which: Sql): Sql {
  const wholes = records.some((row) => row.isWhole === true)
  return sql`
    insert into records (workspace_id, project_id, id, submission_id, dataset, received_at, hops, data ${wholes ? sql`, is_whole` : sql``})
    select workspace_id, project_id, id, submission_id, dataset, to_timestamp(received_ms / 1000), hops, data ${wholes ? sql`, is_whole` : sql``}
      from (
             select unnest(${records.map((row) => row.event.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${records.map((row) => row.event.projectId)}::uuid[]) as project_id,
                    unnest(${records.map((row) => row.id)}::uuid[]) as id,
                    unnest(${records.map((row) => row.event.submission.id)}::uuid[]) as submission_id,
                    unnest(${records.map((row) => row.dataset)}::text[]) as dataset,
                    unnest(${records.map((row) => row.event.submission.receivedAt)}::float8[]) as received_ms,
                    unnest(${records.map((row) => row.event.submission.hops)}::smallint[]) as hops,
                    ${wholes ? sql`unnest(${records.map((row) => (row.isWhole === true ? true : null))}::bool[]) as is_whole,` : sql``}
                    unnest(${texts(records.map((row) => row.data))}) as data
           ) row
     ${which}`
}

function insertDeliveries(deliveries: Of<EventRows['deliveries'][number]>, which: Sql): Sql {
  const ordered = deliveries.some((row) => row.orderKey !== undefined)
  const begins = deliveries.some((row) => row.start !== undefined)
  const begun = begins ? sql`held.fence is not null` : sql`false`
  return sql`
    insert into deliveries (workspace_id, project_id, id, record_id, destination_id, state, pause_reason, attempt_count,
                            next_attempt_at, created_at, updated_at ${ordered ? sql`, order_key, order_seq` : sql``})
    select workspace_id, project_id, id, record_id, destination_id,
           case when ${begun} then 'sending' when pause_reason is null then 'pending' else 'paused' end,
           pause_reason, case when ${begun} then 1 else 0 end,
           case when pause_reason is null and not ${begun} then to_timestamp(ms / 1000) end, to_timestamp(ms / 1000), to_timestamp(ms / 1000)
           ${ordered ? sql`, order_key, case when order_key is not null then nextval('deliveries_order') end` : sql``}
      from (
             select unnest(${deliveries.map((row) => row.event.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${deliveries.map((row) => row.event.projectId)}::uuid[]) as project_id,
                    unnest(${deliveries.map((row) => row.id)}::uuid[]) as id,
                    unnest(${deliveries.map((row) => row.event.submission.id)}::uuid[]) as submission_id,
                    unnest(${deliveries.map((row) => row.recordId)}::uuid[]) as record_id,
                    unnest(${deliveries.map((row) => row.destinationId)}::uuid[]) as destination_id,
                    unnest(${deliveries.map((row) => row.pauseReason)}::text[]) as pause_reason,
                    ${begins ? sql`unnest(${deliveries.map((row) => row.start?.fence ?? null)}::bigint[]) as fence,` : sql``}
                    ${ordered ? sql`unnest(${deliveries.map((row) => row.orderKey ?? null)}::uuid[]) as order_key,` : sql``}
                    unnest(${deliveries.map((row) => row.event.submission.receivedAt)}::float8[]) as ms
           ) row
      ${begins ? sql`left join held using (workspace_id, destination_id, fence)` : sql``}
     ${which}
     ${begins ? sql`returning workspace_id, project_id, id, destination_id, state` : sql``}`
}

type BegunRows = Of<EventRows['deliveries'][number] & FirstAttempt>

/**
 * Locks the lanes whose fence is the current one and whose destination is on, as a turn does: a grant waits for this commit, or its
 * new fence shows that nothing may start.
 */
function lockHeld(begun: BegunRows): Sql {
  const lanes = [...new Map(begun.map((row) => [`${row.event.workspaceId}/${row.destinationId}`, row])).values()]
  return sql`
    select l.workspace_id, l.destination_id, l.fence
      from unnest(${lanes.map((row) => row.event.workspaceId)}::uuid[], ${lanes.map((row) => row.destinationId)}::uuid[], ${lanes.map((row) => row.fence)}::bigint[])
        as given (workspace_id, destination_id, fence)
      join lanes l using (workspace_id, destination_id, fence)
      join workspaces w on w.id = l.workspace_id
      join destinations t on t.workspace_id = l.workspace_id and t.id = l.destination_id
      join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id
     where not w.halted
       and t.enabled
       and p.deleted_at is null
     order by l.workspace_id, l.destination_id
       for key share of l`
}

function insertAttempts(begun: BegunRows): Sql {
  return sql`
    insert into delivery_attempts (workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at)
    select d.workspace_id, d.project_id, given.attempt_id, d.id, d.destination_id, 1, 'initial', given.fence, given.started_at
      from unnest(${begun.map((row) => row.id)}::uuid[], ${begun.map((row) => row.attemptId)}::uuid[], ${begun.map((row) => row.fence)}::bigint[], ${begun.map((row) => row.at)}::timestamptz[])
        as given (delivery_id, attempt_id, fence, started_at)
      join new_deliveries d on d.id = given.delivery_id
     where d.state = 'sending'
    returning id`
}

function insertInstances(starts: Of<EventRows['starts'][number]>, which: Sql): Sql {
  return sql`
    insert into workflow_instances (workspace_id, project_id, id, workflow_id, version, record_id, dataset, started_by, hops, root_id, due_at,
                                    created_at, updated_at, start_since)
    select workspace_id, project_id, id, workflow_id, version, record_id, dataset, 'record', hops, root_id, to_timestamp(ms / 1000),
           to_timestamp(ms / 1000), to_timestamp(ms / 1000), pg_current_snapshot()::text || ' ' || pg_current_xact_id()::text
      from (
             select unnest(${starts.map((row) => row.event.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${starts.map((row) => row.event.projectId)}::uuid[]) as project_id,
                    unnest(${starts.map((row) => row.id)}::uuid[]) as id,
                    unnest(${starts.map((row) => row.event.submission.id)}::uuid[]) as submission_id,
                    unnest(${starts.map((row) => row.workflowId)}::uuid[]) as workflow_id,
                    unnest(${starts.map((row) => row.version)}::int[]) as version,
                    unnest(${starts.map((row) => row.recordId)}::uuid[]) as record_id,
                    unnest(${starts.map((row) => row.dataset)}::text[]) as dataset,
                    unnest(${starts.map((row) => row.event.submission.hops)}::smallint[]) as hops,
                    unnest(${starts.map((row) => row.event.submission.rootId)}::uuid[]) as root_id,
                    unnest(${starts.map((row) => row.event.submission.receivedAt)}::float8[]) as ms
           ) row
     ${which}`
}

function insertRuns(runs: Of<EventRows['runs'][number]>, which: Sql): Sql {
  return sql`
    insert into ai_runs (workspace_id, project_id, id, agent_id, trigger_id, record_id, dataset, hops, root_id, due_at, created_at, updated_at)
    select workspace_id, project_id, id, agent_id, trigger_id, record_id, dataset, hops, root_id, to_timestamp(ms / 1000), to_timestamp(ms / 1000),
           to_timestamp(ms / 1000)
      from (
             select unnest(${runs.map((row) => row.event.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${runs.map((row) => row.event.projectId)}::uuid[]) as project_id,
                    unnest(${runs.map((row) => row.id)}::uuid[]) as id,
                    unnest(${runs.map((row) => row.event.submission.id)}::uuid[]) as submission_id,
                    unnest(${runs.map((row) => row.agentId)}::uuid[]) as agent_id,
                    unnest(${runs.map((row) => row.triggerId)}::uuid[]) as trigger_id,
                    unnest(${runs.map((row) => row.recordId)}::uuid[]) as record_id,
                    unnest(${runs.map((row) => row.dataset)}::text[]) as dataset,
                    unnest(${runs.map((row) => row.event.submission.hops)}::smallint[]) as hops,
                    unnest(${runs.map((row) => row.event.submission.rootId)}::uuid[]) as root_id,
                    unnest(${runs.map((row) => row.event.submission.receivedAt)}::float8[]) as ms
           ) row
     ${which}`
}

/** Inserts in one order, so that two batches with the same datasets do not deadlock. */
function insertDatasets(datasets: Of<EventRows['newDatasets'][number]>): Sql {
  return sql`
    insert into datasets (workspace_id, project_id, id, name, created_at)
    select workspace_id, project_id, id, name, to_timestamp(ms / 1000)
      from (
             select unnest(${datasets.map((row) => row.event.workspaceId)}::uuid[]) as workspace_id,
                    unnest(${datasets.map((row) => row.event.projectId)}::uuid[]) as project_id,
                    unnest(${datasets.map((row) => row.id)}::uuid[]) as id,
                    unnest(${datasets.map((row) => row.name)}::text[]) as name,
                    unnest(${datasets.map((row) => row.event.submission.receivedAt)}::float8[]) as ms
           ) row
     order by workspace_id, project_id, name
    on conflict (workspace_id, project_id, name) do nothing`
}
