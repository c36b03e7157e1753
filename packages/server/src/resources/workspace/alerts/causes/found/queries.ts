import { alertFacts, SYSTEM_DATASET, type AlertSubject, type AlertType } from '@postroad/contract'
import { sql, texts, type Sql } from '../../../../../platform/db.ts'
import { uuidv7Floor } from '../../../../../platform/ids.ts'

/* oxlint-disable house/tenant-statement -- the loop looks for causes in every workspace */

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

/** The causes of a type, as a select. */
// oxlint-disable-next-line complexity -- one line for each type
export function causesOf(type: AlertType, at: Moment): Sql {
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
