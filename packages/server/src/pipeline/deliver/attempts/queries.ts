import { sql, texts, type Db, type Sql } from '../../../platform/db.ts'
import { isOfDays, recentDays, type Days } from '../../../platform/partitions.ts'
import { whenInactive } from '../../../resources/delivery/deliveries/queries.ts'
import type { LaneAt } from '../../../resources/delivery/lanes/queries.ts'
import { INLINE_BYTES_MAX } from '../payload-memory.ts'
import { persistedWait, notesTable, type HeldAt, type NoteRow } from '../lanes/queries.ts'

export type SettleRow = HeldAt & {
  readonly deliveryId: string
  readonly attemptId: string
  readonly outcome: 'succeeded' | 'failed' | 'interrupted'
  readonly next: 'delivered' | 'retrying' | 'failed' | 'paused' | 'cancelled'
  /** Whether the failure uses up a step of the schedule. */
  readonly counted: boolean
  readonly nextAttemptAt: Date | null
  readonly errorCode: string | null
  readonly errorDetail: string | null
  readonly durationMs: number | null
  readonly status: number | null
  readonly headers: string | null
  readonly body: string | null
  readonly truncated: boolean | null
  readonly request: string | null
}

export type BeginRow = HeldAt & { readonly deliveryId: string; readonly attemptId: string }

export type BegunRow = {
  readonly workspace_id: string
  readonly destination_id: string
  readonly fence: number
  readonly project_id: string
  readonly delivery_id: string
  readonly attempt_id: string
  readonly record_id: string
  readonly submission_id: string
  readonly attempt_number: number
  readonly failure_count: number
  readonly dataset: string
  readonly received_at: Date
  readonly hops: number
  /** The endpoint, ingest key or origin of the submission, and the services that the event had passed before. */
  readonly receiver_id: string | null
  readonly chain: string | null
  /** null: it is larger than `INLINE_BYTES_MAX`, so the sender reads it when it has memory for it. */
  readonly data: string | null
  readonly bytes: number
  /** The size of the body of the request. */
  readonly request_bytes: number
}

export type TurnRow = {
  readonly begun: readonly BegunRow[]
  readonly applied: readonly string[]
  readonly lanes: readonly (HeldAt & { paused: boolean })[]
}

/** An attempt that the turn started. One further row without an attempt is the result of the turn. */
type AnswerRow =
  | (Omit<BegunRow, 'workspace_id' | 'destination_id' | 'fence' | 'delivery_id'> & { readonly applied: null })
  | (Omit<TurnRow, 'begun'> & { readonly attempt_id: null })

/**
 * One turn of the delivery loop is one statement, and so one commit: it settles finished attempts, persists the next ones before
 * their requests start, and persists the memory for the next owner of each lane. It locks the lanes first, so a current fence stays
 * current until the commit. docs/adr/0150 explains how the statement gets the right plan.
 */
// oxlint-disable-next-line max-lines-per-function -- one statement is one screen of SQL
export async function turn(
  db: Db,
  at: {
    settles: readonly SettleRow[]
    begins: readonly BeginRow[]
    notes: readonly NoteRow[]
    inOrder: boolean
    now: Date
  },
): Promise<TurnRow> {
  const { settles, begins, notes, inOrder, now } = at
  const lanes = distinctLanes([...settles, ...begins, ...notes])
  const ended = {
    attempts: rangeOf(settles.map((row) => row.attemptId)),
    deliveries: rangeOf(settles.map((row) => row.deliveryId)),
  }
  const waiting = rangeOf(begins.map((row) => row.deliveryId))
  const ofDays = daysOf([ended.attempts, ended.deliveries, waiting], now)
  const answer = await db.many<AnswerRow>(sql`
    with locked as materialized (
      select l.workspace_id, l.destination_id, l.fence, t.project_id,
             w.halted or not t.enabled or p.deleted_at is not null as paused,
             case ${whenInactive}
                  when not t.enabled or p.deleted_at is not null then 'destination_disabled'
             end as pause_reason
        from unnest(${lanes.map((lane) => lane.workspaceId)}::uuid[], ${lanes.map((lane) => lane.destinationId)}::uuid[])
          as given (workspace_id, destination_id)
        join lanes l using (workspace_id, destination_id)
        join workspaces w on w.id = l.workspace_id
        join destinations t on t.workspace_id = l.workspace_id and t.id = l.destination_id
        join projects p on p.workspace_id = t.workspace_id and p.id = t.project_id
       order by l.workspace_id, l.destination_id
         for key share of l
    ), settled as (
      update delivery_attempts a
         set outcome = s.outcome,
             duration_ms = s.duration_ms,
             response_status = s.status,
             response_headers = s.headers::json,
             response_body = s.body,
             response_truncated = s.truncated,
             request = s.request::json,
             error_code = s.error_code,
             error_detail = s.error_detail,
             next_attempt_at = case when s.paused then null else s.next_attempt_at end
        from (
               select given.*, array[given.attempt_id] as attempt_ids, l.paused, l.pause_reason
                 from unnest(
                        ${settles.map((row) => row.workspaceId)}::uuid[],
                        ${settles.map((row) => row.destinationId)}::uuid[],
                        ${settles.map((row) => row.fence)}::bigint[],
                        ${settles.map((row) => row.attemptId)}::uuid[],
                        ${settles.map((row) => row.outcome)}::text[],
                        ${settles.map((row) => row.next)}::text[],
                        ${settles.map((row) => row.nextAttemptAt)}::timestamptz[],
                        ${settles.map((row) => row.errorCode)}::text[],
                        ${settles.map((row) => row.errorDetail)}::text[],
                        ${settles.map((row) => row.durationMs)}::int[],
                        ${settles.map((row) => row.status)}::int[],
                        ${texts(settles.map((row) => row.headers))},
                        ${texts(settles.map((row) => row.body))},
                        ${settles.map((row) => row.truncated)}::bool[],
                        ${texts(settles.map((row) => row.request))},
                        ${settles.map((row) => row.counted)}::bool[]
                      ) as given (workspace_id, destination_id, fence, attempt_id, outcome, next, next_attempt_at, error_code,
                                  error_detail, duration_ms, status, headers, body, truncated, request, counted)
                 join locked l using (workspace_id, destination_id, fence)
               offset 0
             ) as s
       where a.workspace_id = s.workspace_id
         and a.id = any (s.attempt_ids)
         and a.id between ${ended.attempts.first} and ${ended.attempts.last}
         ${ofDays.rows('a.id')}
         and a.fence = s.fence
         and a.outcome is null
      returning a.workspace_id, a.project_id, a.destination_id, array[a.delivery_id] as delivery_ids, a.id as attempt_id, s.outcome, s.next, s.next_attempt_at,
                s.counted, s.error_code, s.status, s.paused, s.pause_reason
    ), moved as (
      update deliveries d
         set state = case when s.next in ('retrying', 'paused') and s.paused then 'paused'
                          when s.next = 'paused' then 'retrying'
                          else s.next end,
             pause_reason = case when s.next in ('retrying', 'paused') then s.pause_reason end,
             next_attempt_at = case when s.next in ('retrying', 'paused') and not s.paused then coalesce(s.next_attempt_at, ${now}) end,
             failure_count = d.failure_count + case when s.counted then 1 else 0 end,
             next_trigger = 'automatic',
             last_status = case when s.outcome = 'interrupted' then d.last_status else s.status end,
             last_error = case when s.outcome = 'interrupted' then d.last_error else s.error_code end,
             updated_at = ${now}
        from settled s
       where d.workspace_id = s.workspace_id
         and d.project_id = s.project_id
         and d.destination_id = s.destination_id
         and d.id = any (s.delivery_ids)
         and d.id between ${ended.deliveries.first} and ${ended.deliveries.last}
         ${ofDays.rows('d.id')}
         and d.state is not distinct from 'sending'
    ), begun as (
      update deliveries d
         set state = 'sending',
             next_attempt_at = null,
             attempt_count = d.attempt_count + 1,
             updated_at = ${now}
        from (
               select given.*, array[given.delivery_id] as delivery_ids, l.project_id
                 from unnest(
                        ${begins.map((row) => row.workspaceId)}::uuid[],
                        ${begins.map((row) => row.destinationId)}::uuid[],
                        ${begins.map((row) => row.fence)}::bigint[],
                        ${begins.map((row) => row.deliveryId)}::uuid[],
                        ${begins.map((row) => row.attemptId)}::uuid[]
                      ) as given (workspace_id, destination_id, fence, delivery_id, attempt_id)
                 join locked l using (workspace_id, destination_id, fence)
                where not l.paused
               offset 0
             ) as b
       where d.workspace_id = b.workspace_id
         and d.project_id = b.project_id
         and d.destination_id = b.destination_id
         and d.id = any (b.delivery_ids)
         and d.id between ${waiting.first} and ${waiting.last}
         ${ofDays.rows('d.id')}
         and d.state in ('pending', 'retrying')
         and d.next_attempt_at <= ${now}
         ${inOrder ? isFirstOfItsKey : sql`and d.order_key is null`}
      returning d.workspace_id, d.project_id, d.destination_id, b.fence, d.id as delivery_id, b.attempt_id, d.record_id,
                d.attempt_count as attempt_number, d.failure_count, d.next_trigger
    ), opened as (
      insert into delivery_attempts (workspace_id, project_id, id, delivery_id, destination_id, number, trigger, fence, started_at)
      select workspace_id, project_id, attempt_id, delivery_id, destination_id, attempt_number, next_trigger, fence, ${now}
        from begun
    )
    ${
      notes.length === 0
        ? sql``
        : sql`, persisted as (
      update lanes l
         set memory = note.memory::json,
             waits_until = ${persistedWait},
             remembered_at = ${now},
             note_serial = note.serial
        from ${notesTable(notes)}
        join locked k using (workspace_id, destination_id, fence)
       where l.workspace_id = k.workspace_id
         and l.destination_id = k.destination_id
         and l.fence = k.fence
         and l.note_serial < note.serial
    )`
    }
    select b.attempt_id, b.project_id, b.record_id, r.submission_id, b.attempt_number, b.failure_count, r.dataset, r.received_at, r.hops,
           s.receiver_id, s.chain, case when octet_length(coalesce(r.data, s.body)) <= ${INLINE_BYTES_MAX} then coalesce(r.data, s.body) end as data,
           octet_length(coalesce(r.data, s.body)) as bytes, s.body_size as request_bytes, null::json as applied, null::json as lanes
      from begun b
     cross join lateral (
             select workspace_id, project_id, submission_id, dataset, received_at, hops, data
               from records
              where workspace_id = b.workspace_id
                and project_id = b.project_id
                and id = b.record_id
                ${ofDays.origins('id')}
             offset 0
           ) r
     cross join lateral (
             select body, body_size, coalesce(webhook_id, ingest_key_id, origin_id) as receiver_id, chain
               from submissions
              where workspace_id = r.workspace_id
                and project_id = r.project_id
                and id = r.submission_id
                ${ofDays.origins('id')}
             offset 0
           ) s
    union all
    select null, null, null, null, null, null, null, null, null, null, null, null, null, null,
           coalesce((select json_agg(attempt_id) from settled), '[]'),
           coalesce((select json_agg(json_build_object('workspaceId', workspace_id, 'destinationId', destination_id, 'fence', fence,
                                                       'paused', paused)) from locked), '[]')
  `)
  return turnedOf(answer, begins)
}

/** Condition on delivery `d`: no earlier delivery with the same key is outstanding. A lane without an order skips this check. */
const isFirstOfItsKey: Sql = sql`
         and (d.order_key is null or not exists (
                select 1
                  from deliveries e
                 where e.workspace_id = d.workspace_id
                   and e.destination_id = d.destination_id
                   and e.order_key = d.order_key
                   and e.order_key is not null
                   and e.order_seq < d.order_seq
                   and e.state in ('pending', 'sending', 'retrying', 'paused')
              ))`

function turnedOf(answer: readonly AnswerRow[], begins: readonly BeginRow[]): TurnRow {
  const asked = new Map(begins.map((begin) => [begin.attemptId, begin]))
  const begun: BegunRow[] = []
  let rest: Omit<TurnRow, 'begun'> = { applied: [], lanes: [] }
  for (const row of answer) {
    const begin = row.attempt_id === null ? undefined : asked.get(row.attempt_id)
    if (row.attempt_id === null) rest = row
    else if (begin !== undefined) {
      const { workspaceId, destinationId, fence, deliveryId } = begin
      begun.push({ ...row, workspace_id: workspaceId, destination_id: destinationId, fence, delivery_id: deliveryId })
    }
  }
  return { begun, applied: rest.applied, lanes: rest.lanes }
}

/**
 * Conditions that remove other days from the plan when all of these rows are recent. A delivery's record and submission are
 * created at the same moment as the delivery, but possibly on the other side of midnight.
 */
function daysOf(
  ranges: readonly Range[],
  now: Date,
): { rows: (column: string) => Sql; origins: (column: string) => Sql } {
  const days = recentDays(now)
  const recent = ranges.every(({ first, last }) => first === NO_ID || (first >= days.from && last < days.to))
  const inDays =
    (asked: Days) =>
    (column: string): Sql =>
      recent ? sql`and ${isOfDays(column, asked)}` : sql``
  return { rows: inDays(days), origins: inDays(recentDays(now, 1)) }
}

type Range = { readonly first: string; readonly last: string }
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** The least and the greatest of these UUIDs. They sort as text in the same order as in the database. */
function rangeOf(ids: readonly string[]): Range {
  let [first = NO_ID, last = NO_ID] = [ids[0], ids[0]]
  for (const id of ids) {
    if (id < first) first = id
    if (id > last) last = id
  }
  return { first, last }
}

/** Returns those of these attempts that are open under the current fence of their lane. The lanes are locked as in `turn`. */
export async function findOpen(
  db: Db,
  attempts: readonly (HeldAt & { attemptId: string })[],
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ id: string }>(sql`
    select a.id
      from unnest(
             ${attempts.map((row) => row.workspaceId)}::uuid[],
             ${attempts.map((row) => row.destinationId)}::uuid[],
             ${attempts.map((row) => row.fence)}::bigint[],
             ${attempts.map((row) => row.attemptId)}::uuid[]
           ) as s (workspace_id, destination_id, fence, attempt_id)
      join lanes l using (workspace_id, destination_id, fence)
      join delivery_attempts a on a.workspace_id = s.workspace_id and a.id = s.attempt_id and a.fence = s.fence
     where a.outcome is null
     order by l.workspace_id, l.destination_id
       for key share of l
  `)
  return new Set(rows.map((row) => row.id))
}

function distinctLanes(rows: readonly LaneAt[]): readonly LaneAt[] {
  return [...new Map(rows.map((row) => [`${row.workspaceId}${row.destinationId}`, row])).values()]
}
