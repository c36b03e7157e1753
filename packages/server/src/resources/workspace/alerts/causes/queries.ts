import { alertFacts, SYSTEM_DATASET, type AlertSubject, type AlertType, type QuietHours } from '@postroad/contract'
import { sql, texts, type Db, type Sql } from '../../../../platform/db.ts'
import { uuidv7Floor } from '../../../../platform/ids.ts'

/**
 * The causes of alerts, one statement for each type over all projects. Each reads rows that exist for other reasons, along an index in which
 * a healthy project has none, or a small table of settings. None reads a table of events, except the waiting deliveries.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const SIGNATURES_MS = 15 * MINUTE_MS
/** An expired key is reported for this long. */
const EXPIRED_DAYS = 7
/** A deployment that makes a key for a day knows that it expires. */
const KEY_DAYS_MIN = 2
const FAILURES_MIN = 3

export type QuotaRow = { readonly plan: string; readonly events: number | null; readonly deliveries: number | null }

export type Moment = {
  readonly now: number
  /** The first day of the month. */
  readonly month: string
  readonly quotas: readonly QuotaRow[]
}

const NONE: Sql = sql`null::text`
const NO_DETAIL: Sql = sql`json_build_object()`

/** The columns of a cause that is about a destination `d`. */
const ofDestination = (value: Sql, detail: Sql = NO_DETAIL): Sql => sql`
  d.workspace_id, d.project_id, 'destination' as subject_kind, d.id as subject_id, d.name as subject_name,
  (select c.customer_id
     from portal_customers c
    where c.workspace_id = d.workspace_id
      and c.project_id = d.project_id
      and c.id = d.portal_customer_id) as customer_id,
  (${value})::bigint as value, ${detail} as detail, coalesce(d.datasets @> array[${SYSTEM_DATASET}], false) as is_channel
`

type Named = { readonly kind: AlertSubject; readonly table: Sql; readonly value: Sql; readonly detail?: Sql }
/** The columns of a cause that is about a row of `table`. */
const ofRow = ({ kind, table, value, detail = NO_DETAIL }: Named): Sql => sql`
  ${table}.workspace_id, ${table}.project_id, ${kind} as subject_kind, ${table}.id as subject_id, ${table}.name as subject_name,
  ${NONE} as customer_id, (${value})::bigint as value, ${detail} as detail, false as is_channel
`

/** The longest that a rule of this type looks ahead or the least that it counts, so that an index can leave out the rest. */
const widest = (type: AlertType): Sql => sql`
  greatest(${alertFacts(type).threshold}::bigint, (select max(threshold) from alert_rules where type = ${type}))`
const least = (type: AlertType): Sql => sql`
  least(${alertFacts(type).threshold}::bigint, (select min(threshold) from alert_rules where type = ${type}))`

const failing = ({ now }: Moment): Sql => sql`
  select ${ofDestination(
    sql`((l.memory -> 'breaker' ->> 'failing_ms')::numeric + extract(epoch from ${new Date(now)}::timestamptz - l.remembered_at) * 1000) / 60000 - 0.5`,
    sql`json_build_object('error_code', l.memory -> 'breaker' -> 'last_failure' ->> 'error_code', 'status', (l.memory -> 'breaker' -> 'last_failure' ->> 'status')::integer)`,
  )}
    from lanes l
    join destinations d on d.workspace_id = l.workspace_id and d.id = l.destination_id
   where l.memory is not null
     and d.enabled
     and (l.memory ->> 'breaker_resets')::integer = l.breaker_resets
     and l.memory -> 'breaker' ->> 'failing_ms' is not null
     and (l.memory -> 'breaker' ->> 'failures_in_row')::integer >= ${FAILURES_MIN}
`

const disabled: Sql = sql`
  select ${ofDestination(sql`0`, sql`json_build_object('reason', d.disabled_reason)`)}
    from destinations d
   where d.disabled_reason in ('gone', 'failing')
     and not d.enabled
`

const gaveUp = ({ now }: Moment): Sql => sql`
  select ${ofDestination(sql`ended.n`)}
    from (
           select workspace_id, project_id, destination_id, sum(gave_up - gave_up_own) as n
             from destination_rollups
            where gave_up > 0
              and span_seconds = 60
              and at > ${new Date(now - HOUR_MS)}
            group by workspace_id, project_id, destination_id
         ) ended
    join destinations d on d.workspace_id = ended.workspace_id and d.project_id = ended.project_id and d.id = ended.destination_id
   where ended.n > 0
`

/** Of the first deliveries of a channel, those of alerts do not count. */
const CHANNEL_LOOKED_AT = 500

/** The walk reads the index of waiting deliveries from destination to destination, so idle ones cost nothing. */
const backlog = ({ now }: Moment): Sql => sql`
  select ${ofDestination(sql`floor(extract(epoch from ${new Date(now)}::timestamptz - due.at) / 60)`)}
    from (
      with recursive walk (workspace_id, destination_id) as (
        (select workspace_id, destination_id
           from deliveries
          where next_attempt_at is not null
          order by workspace_id, destination_id
          limit 1)
        union all
        select further.workspace_id, further.destination_id
          from walk
          left join lateral (
                 select workspace_id, destination_id
                   from deliveries
                  where next_attempt_at is not null
                    and (workspace_id, destination_id) > (walk.workspace_id, walk.destination_id)
                  order by workspace_id, destination_id
                  limit 1
               ) further on true
         where walk.workspace_id is not null
      )
      select workspace_id, destination_id from walk where workspace_id is not null
    ) waiting
    join destinations d on d.workspace_id = waiting.workspace_id and d.id = waiting.destination_id and d.enabled
   cross join lateral (
           select min(first.next_attempt_at) as at
             from (values ('pending'), ('retrying')) as in_state (state)
            cross join lateral (
                    select found.next_attempt_at
                      from (
                             select v.project_id, v.record_id, v.next_attempt_at
                               from deliveries v
                              where v.workspace_id = d.workspace_id
                                and v.destination_id = d.id
                                and v.state = in_state.state
                                and v.next_attempt_at is not null
                              order by v.next_attempt_at
                              limit ${CHANNEL_LOOKED_AT}
                           ) found
                     where not coalesce(d.datasets @> array[${SYSTEM_DATASET}], false)
                        or not exists (
                             select from records e
                              where e.workspace_id = d.workspace_id
                                and e.project_id = found.project_id
                                and e.id = found.record_id
                                and e.dataset = ${SYSTEM_DATASET}
                           )
                     order by found.next_attempt_at
                     limit 1
                  ) first
         ) due
   where due.at <= ${new Date(now)}::timestamptz - interval '1 minute' * ${least('backlog.old')}
`

const unproven = ({ now }: Moment): Sql => sql`
  select ${ofRow({ kind: 'webhook', table: sql`t`, value: sql`refused.n` })}
    from (
           select workspace_id, project_id, webhook_id, sum(count) as n
             from rejections
            where id >= ${uuidv7Floor(now - SIGNATURES_MS)}
              and reason in ('missing_header', 'bad_signature', 'stale_timestamp')
              and webhook_id is not null
            group by workspace_id, project_id, webhook_id
         ) refused
    join webhooks t on t.workspace_id = refused.workspace_id and t.project_id = refused.project_id and t.id = refused.webhook_id
   union all
  select ${ofRow({ kind: 'ingest_key', table: sql`t`, value: sql`refused.n` })}
    from (
           select workspace_id, project_id, ingest_key_id, sum(count) as n
             from rejections
            where id >= ${uuidv7Floor(now - SIGNATURES_MS)}
              and reason in ('missing_header', 'bad_signature', 'stale_timestamp')
              and webhook_id is null
              and ingest_key_id is not null
            group by workspace_id, project_id, ingest_key_id
         ) refused
    join ingest_keys t on t.workspace_id = refused.workspace_id and t.project_id = refused.project_id and t.id = refused.ingest_key_id
`

const LAST_ERROR: Sql = sql`json_build_object('error', left(t.last_error ->> 'error', 300))`
const sources: Sql = sql`
  select ${ofRow({
    kind: 'source',
    table: sql`t`,
    value: sql`case when t.enabled then t.failures else ${alertFacts('source.failing').max} end`,
    detail: LAST_ERROR,
  })}
    from sources t
   where t.enabled and t.failures > 0
      or not t.enabled and t.disabled_reason = 'failing'
   union all
  select ${ofRow({ kind: 'cron_trigger', table: sql`t`, value: sql`t.failures`, detail: LAST_ERROR })}
    from cron_triggers t
   where t.enabled
     and t.failures > 0
   union all
  select ${ofRow({ kind: 'ws_trigger', table: sql`t`, value: sql`t.failures`, detail: LAST_ERROR })}
    from ws_triggers t
   where t.enabled
     and t.failures > 0
`

const lagging: Sql = sql`
  select ${ofRow({
    kind: 'source',
    table: sql`t`,
    value: sql`floor(coalesce((t.slot ->> 'retained_bytes')::numeric, (t.slot ->> 'lag_bytes')::numeric) / 1048576)`,
  })}
    from sources t
   where t.slot_due_at is not null
     and t.slot is not null
     and coalesce(t.slot ->> 'retained_bytes', t.slot ->> 'lag_bytes') is not null
`

const workflows = ({ now }: Moment): Sql => sql`
  select ${ofRow({ kind: 'workflow', table: sql`t`, value: sql`ended.n` })}
    from (
           select workspace_id, project_id, workflow_id, count(*) as n
             from workflow_instances
            where state = 'failed'
              and ended_at > ${new Date(now - HOUR_MS)}
            group by workspace_id, project_id, workflow_id
         ) ended
    join workflows t on t.workspace_id = ended.workspace_id and t.project_id = ended.project_id and t.id = ended.workflow_id
`

/** Every project of a workspace gets it, because only a project has channels. A plan that the file lacks has the limits of self_hosted. */
const quotas = ({ month, quotas: rows }: Moment): Sql => sql`
  select p.workspace_id, p.id as project_id, used.subject_kind, p.workspace_id as subject_id, w.name as subject_name, ${NONE} as customer_id,
         floor(used.n * 100 / used.quota)::bigint as value, json_build_object('used', used.n, 'quota', used.quota) as detail,
         false as is_channel
    from monthly_usage u
    join workspaces w on w.id = u.workspace_id
    join lateral (
           select plan.events, plan.deliveries
             from unnest(${texts(rows.map(({ plan }) => plan))}, ${rows.map(({ events }) => events)}::bigint[], ${rows.map(({ deliveries }) => deliveries)}::bigint[])
               as plan (name, events, deliveries)
            where plan.name in (w.plan, 'self_hosted')
            order by plan.name = w.plan desc
            limit 1
         ) plan on true
   cross join lateral (values ('events_quota', u.events, plan.events), ('deliveries_quota', u.deliveries, plan.deliveries))
      as used (subject_kind, n, quota)
    join projects p on p.workspace_id = u.workspace_id
   where u.month = ${month}::date
     and used.quota > 0
     and used.n * 100 / used.quota >= ${least('quota.near')}
`

const daysLeft = (at: Sql, now: number): Sql =>
  sql`greatest(0, floor(extract(epoch from ${at} - ${new Date(now)}::timestamptz) / 86400))`

const keys = ({ now }: Moment): Sql => {
  const soon = (t: Sql): Sql => sql`
     ${t}.expires_at > ${new Date(now - EXPIRED_DAYS * DAY_MS)}
     and ${t}.expires_at <= ${new Date(now)}::timestamptz + interval '1 day' * (${widest('key.expiring')} + 1)
     and ${t}.expires_at - ${t}.created_at > interval '1 day' * ${KEY_DAYS_MIN}::int`
  return sql`
    select p.workspace_id, p.id as project_id, 'api_key' as subject_kind, k.id as subject_id, k.name as subject_name, ${NONE} as customer_id,
           ${daysLeft(sql`k.expires_at`, now)}::bigint as value, json_build_object('expires_at', k.expires_at) as detail, false as is_channel
      from api_keys k
      join projects p on p.workspace_id = k.workspace_id and (p.id = k.project_id or k.project_id is null and p.is_default)
     where k.revoked_at is null
       and ${soon(sql`k`)}
     union all
    select ${ofRow({
      kind: 'data_key',
      table: sql`k`,
      value: daysLeft(sql`k.expires_at`, now),
      detail: sql`json_build_object('expires_at', k.expires_at)`,
    })}
      from data_keys k
     where ${soon(sql`k`)}
  `
}

const certificates = ({ now }: Moment): Sql => sql`
  select ${ofDestination(daysLeft(sql`d.certificate_expires_at`, now), sql`json_build_object('expires_at', d.certificate_expires_at)`)}
    from destinations d
   where d.tls is not null
     and d.certificate_expires_at <= ${new Date(now)}::timestamptz + interval '1 day' * (${widest('certificate.expiring')} + 1)
`

function causesOf(type: AlertType, at: Moment): Sql {
  switch (type) {
    case 'destination.failing':
      return failing(at)
    case 'destination.disabled':
      return disabled
    case 'delivery.failed':
      return gaveUp(at)
    case 'backlog.old':
      return backlog(at)
    case 'signature.failing':
      return unproven(at)
    case 'source.failing':
      return sources
    case 'source.lagging':
      return lagging
    case 'workflow.failing':
      return workflows(at)
    case 'quota.near':
      return quotas(at)
    case 'key.expiring':
      return keys(at)
    case 'certificate.expiring':
      return certificates(at)
  }
}

export type Severity = 'warning' | 'critical'

/** The columns of an open alert that decide what comes next. */
export type OpenAlert = {
  readonly id: string
  readonly severity: Severity
  readonly value: number
  readonly peak: number
  readonly announced: Severity | 'resolved' | null
  readonly silent: boolean
  readonly held: boolean
  readonly muted_until: string | null
  readonly opened_at: string
}

/** A cause, an open alert, or both of one subject. */
export type Compared = {
  readonly workspace_id: string
  readonly project_id: string
  readonly subject_kind: AlertSubject
  readonly subject_id: string
  readonly subject_name: string
  readonly customer_id: string | null
  readonly value: number
  readonly detail: Readonly<Record<string, unknown>>
  readonly severity: Severity
  /** Whether the cause is there. */
  readonly is_true: boolean
  /** The subject delivers alerts, and one like this was reported within the last day. */
  readonly was_reported: boolean
  readonly alert: OpenAlert | null
  readonly quiet_hours: readonly QuietHours[]
  /** The slugs of the workspace and the project. */
  readonly place: string
}

/** Of a type, a look changes at most this many alerts; the next look changes the rest. */
const CHANGED_MAX = 500

const quietOf = (t: Sql): Sql => sql`
  coalesce((select json_agg(json_build_object('name', q.name, 'days', q.days, 'from', q.from_time, 'to', q.to_time, 'time_zone', q.time_zone))
              from alert_quiet_hours q
             where q.workspace_id = ${t}.workspace_id
               and q.project_id = ${t}.project_id), '[]')`

/**
 * The causes of a type beside its open alerts, where they differ: a cause without an alert, an alert without a cause, or another value.
 * Projects that were deleted, and those of workspaces that are suspended or closed, stay as they are.
 */
// oxlint-disable-next-line max-lines-per-function -- one statement is one screen of SQL
export function compareCauses(db: Db, { type, ...at }: Moment & { type: AlertType }): Promise<readonly Compared[]> {
  const { threshold, critical, unit, severity } = alertFacts(type)
  const reaches = (limit: Sql): Sql => (unit === 'days' ? sql`c.value <= ${limit}` : sql`c.value >= ${limit}`)
  const isCritical =
    unit === null
      ? sql`${severity === 'critical'}::boolean`
      : sql`coalesce(${reaches(sql`case when r.type is null then ${critical}::bigint else r.critical end`)}, false)`
  const isTrue = unit === null ? sql`true` : reaches(sql`coalesce(r.threshold, ${threshold}::bigint)`)
  // oxlint-disable-next-line house/tenant-statement -- the loop looks at every workspace
  return db.many<Compared>(sql`
    with cause as materialized (${causesOf(type, at)}), judged as materialized (
      select c.workspace_id, c.project_id, c.subject_kind, c.subject_id, c.subject_name, c.customer_id, c.value, c.detail, c.is_channel,
             case when ${isCritical} then 'critical' else 'warning' end as severity
        from cause c
        left join alert_rules r on r.workspace_id = c.workspace_id and r.project_id = c.project_id and r.type = ${type}
       where coalesce(r.enabled, true)
         and ${isTrue}
    ), known as materialized (
      select workspace_id, project_id, subject_kind, subject_id, id, subject_name, customer_id, severity, value, peak, detail, announced,
             silent, held, muted_until, opened_at
        from alerts
       where type = ${type}
         and resolved_at is null
    )
    select b.workspace_id, b.project_id, b.subject_kind, b.subject_id, b.subject_name, b.customer_id, b.value, b.detail, b.severity, b.is_true,
           b.alert, ${quietOf(sql`b`)} as quiet_hours, w.slug || '/' || p.slug as place,
           b.is_channel and exists (
             select from alerts x
              where x.workspace_id = b.workspace_id
                and x.project_id = b.project_id
                and x.subject_id = b.subject_id
                and x.type = ${type}
                and x.announced_at > ${new Date(at.now - DAY_MS)}
           ) as was_reported
      from (
             select workspace_id, project_id, subject_kind, subject_id,
                    coalesce(j.subject_name, k.subject_name) as subject_name,
                    coalesce(j.customer_id, k.customer_id) as customer_id,
                    coalesce(j.value, k.value) as value,
                    coalesce(j.detail, k.detail) as detail,
                    coalesce(j.severity, k.severity) as severity,
                    j.value is not null as is_true,
                    coalesce(j.is_channel, false) as is_channel,
                    case when k.id is not null then json_build_object(
                      'id', k.id, 'severity', k.severity, 'value', k.value, 'peak', k.peak, 'announced', k.announced, 'silent', k.silent,
                      'held', k.held, 'muted_until', k.muted_until, 'opened_at', k.opened_at) end as alert
               from judged j
               full join known k using (workspace_id, project_id, subject_kind, subject_id)
              where k.id is null
                 or j.value is null
                 or j.value <> k.value
                 or j.severity <> k.severity
                 or j.subject_name <> k.subject_name
              order by (k.id is null or j.value is null) desc
              limit ${CHANGED_MAX}
           ) b
      join projects p on p.workspace_id = b.workspace_id and p.id = b.project_id and p.deleted_at is null
      join workspaces w on w.id = b.workspace_id and w.suspended_at is null and w.closed_at is null
  `)
}

/** Alerts whose next event quiet hours held back, and those whose mute has ended. */
export type Waiting = Compared & { readonly type: AlertType; readonly alert: OpenAlert; readonly is_resolved: boolean }

export function listWaiting(db: Db, { now }: { now: number }): Promise<readonly Waiting[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop looks at every workspace
  return db.many<Waiting>(sql`
    select a.workspace_id, a.project_id, a.type, a.subject_kind, a.subject_id, a.subject_name, a.customer_id, a.value, a.detail, a.severity,
           a.resolved_at is null as is_true, a.resolved_at is not null as is_resolved, false as was_reported, ${quietOf(sql`a`)} as quiet_hours,
           w.slug || '/' || p.slug as place,
           json_build_object('id', a.id, 'severity', a.severity, 'value', a.value, 'peak', a.peak, 'announced', a.announced, 'silent', a.silent,
                             'held', a.held, 'muted_until', a.muted_until, 'opened_at', a.opened_at) as alert
      from (
             (select workspace_id, project_id, id from alerts where held limit ${CHANGED_MAX})
             union
             (select workspace_id, project_id, id
                from alerts
               where muted_until <= ${new Date(now)}
                 and resolved_at is null
               limit ${CHANGED_MAX})
           ) found
      join alerts a using (workspace_id, project_id, id)
      join projects p on p.workspace_id = a.workspace_id and p.id = a.project_id and p.deleted_at is null
      join workspaces w on w.id = a.workspace_id and w.suspended_at is null and w.closed_at is null
  `)
}

export type UnreadCertificate = {
  readonly workspace_id: string
  readonly project_id: string
  readonly id: string
  readonly tls: Buffer
}

/** Destinations whose certificates nobody has read since they were stored. */
export function listUnreadCertificates(db: Db, { limit }: { limit: number }): Promise<readonly UnreadCertificate[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop looks at every workspace
  return db.many<UnreadCertificate>(sql`
    select workspace_id, project_id, id, tls
      from destinations
     where tls is not null
       and certificate_expires_at is null
     limit ${limit}
  `)
}

/** `expiresAt` null: it has no client certificate. The sealed bytes prove that it is still the one that was read. */
export function setCertificateExpiry(
  db: Db,
  at: { workspaceId: string; projectId: string; id: string; tls: Buffer; expiresAt: string | null },
): Promise<number> {
  return db.run(sql`
    update destinations
       set certificate_expires_at = ${at.expiresAt ?? 'infinity'}::timestamptz
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and tls = ${at.tls}
       and certificate_expires_at is null
  `)
}

/** Deletes alerts that were resolved before this time. Returns how many. */
export function deleteOldAlerts(db: Db, at: { before: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep prunes every workspace
  return db.run(sql`
    delete from alerts
     where ctid = any (array(
             select ctid
               from alerts
              where resolved_at < ${at.before}
              limit ${at.limit}
           ))
  `)
}
