import type { AlertChange, AlertSubject, AlertType, Weekday } from '@postroad/contract'
import { sql, texts, type Db, type Sql } from '../../../platform/db.ts'

type At = { readonly workspaceId: string; readonly projectId: string }
type Severity = 'warning' | 'critical'

export type AlertRow = {
  readonly id: string
  readonly type: AlertType
  readonly subject_kind: AlertSubject
  readonly subject_id: string
  readonly subject_name: string
  readonly customer_id: string | null
  readonly severity: Severity
  readonly value: number
  readonly peak: number
  readonly detail: Readonly<Record<string, unknown>>
  readonly opened_at: Date
  readonly updated_at: Date
  readonly resolved_at: Date | null
  readonly held: boolean
  readonly is_muted: boolean
  /** null: until it resolves. */
  readonly muted_until: Date | null
  readonly muted_by: string | null
}

const columns: Sql = sql`
  id, type, subject_kind, subject_id, subject_name, customer_id, severity, value, peak, detail, opened_at, updated_at, resolved_at, held,
  muted_until is not null and resolved_at is null as is_muted, nullif(muted_until, 'infinity') as muted_until, muted_by
`

export type Filter = {
  readonly state: 'open' | 'resolved' | null
  readonly type: AlertType | null
  readonly subjectId: string | null
}

export function listAlerts(
  db: Db,
  at: At & Filter & { before: string | null; limit: number },
): Promise<readonly AlertRow[]> {
  return db.many<AlertRow>(sql`
    select ${columns}
      from alerts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and (${at.before}::uuid is null or id < ${at.before})
       and (${at.state}::text is null or (resolved_at is null) = (${at.state} = 'open'))
       and (${at.type}::text is null or type = ${at.type})
       and (${at.subjectId}::uuid is null or subject_id = ${at.subjectId})
     order by id desc
     limit ${at.limit}
  `)
}

export async function countOpenAlerts(db: Db, at: At): Promise<number> {
  const { n } = await db.one<{ n: number }>(sql`
    select count(*)::int as n
      from alerts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and resolved_at is null
  `)
  return n
}

/** `lock` locks the row until the transaction ends. */
export function findAlert(db: Db, at: At & { id: string; lock?: boolean }): Promise<AlertRow | undefined> {
  return db.maybe<AlertRow>(sql`
    select ${columns}
      from alerts
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
     ${at.lock === true ? sql`for update` : sql``}
  `)
}

export type AlertEventRow = { readonly record_id: string; readonly change: AlertChange; readonly at: Date }

/** An alert makes few events, because only its opening, its end, an escalation and the end of a mute make one. */
const EVENTS_SHOWN_MAX = 200

export function listAlertEvents(db: Db, at: At & { id: string }): Promise<readonly AlertEventRow[]> {
  return db.many<AlertEventRow>(sql`
    select record_id, change, at
      from alert_events
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and alert_id = ${at.id}
     order by at desc, record_id desc
     limit ${EVENTS_SHOWN_MAX}
  `)
}

/** `until` null: until the alert resolves. */
export function muteAlert(db: Db, at: At & { id: string; until: Date | null; by: string }): Promise<number> {
  return db.run(sql`
    update alerts
       set muted_until = coalesce(${at.until}::timestamptz, 'infinity'),
           muted_by = ${at.by}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and resolved_at is null
  `)
}

export function unmuteAlert(db: Db, at: At & { id: string }): Promise<number> {
  return db.run(sql`
    update alerts
       set muted_until = null,
           muted_by = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.id}
       and resolved_at is null
  `)
}

// Settings

export type RuleRow = {
  readonly type: AlertType
  readonly enabled: boolean
  readonly threshold: number | null
  readonly critical: number | null
}

export function listAlertRules(db: Db, at: At): Promise<readonly RuleRow[]> {
  return db.many<RuleRow>(sql`
    select type, enabled, threshold, critical
      from alert_rules
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
}

export async function putAlertRules(db: Db, at: At & { rows: readonly RuleRow[]; now: Date }): Promise<void> {
  await db.run(sql`
    insert into alert_rules (workspace_id, project_id, type, enabled, threshold, critical, updated_at)
    select ${at.workspaceId}, ${at.projectId}, type, enabled, threshold, critical, ${at.now}::timestamptz
      from unnest(
             ${texts(at.rows.map((row) => row.type))},
             ${at.rows.map((row) => row.enabled)}::boolean[],
             ${at.rows.map((row) => row.threshold)}::bigint[],
             ${at.rows.map((row) => row.critical)}::bigint[]
           ) as row (type, enabled, threshold, critical)
    on conflict (workspace_id, project_id, type) do update
       set enabled = excluded.enabled,
           threshold = excluded.threshold,
           critical = excluded.critical,
           updated_at = excluded.updated_at
  `)
}

/** These types have the default rule again. */
export async function deleteAlertRules(db: Db, at: At & { types: readonly AlertType[] }): Promise<void> {
  await db.run(sql`
    delete from alert_rules
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and type = any (${texts(at.types)})
  `)
}

export type QuietHoursRow = {
  readonly name: string
  readonly days: Weekday[]
  readonly from: string
  readonly to: string
  readonly time_zone: string
}

export function listQuietHours(db: Db, at: At): Promise<readonly QuietHoursRow[]> {
  return db.many<QuietHoursRow>(sql`
    select name, days, from_time as "from", to_time as "to", time_zone
      from alert_quiet_hours
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
     order by name
  `)
}

/** Replaces all quiet hours of the project. */
export async function putQuietHours(db: Db, at: At & { rows: readonly QuietHoursRow[] }): Promise<void> {
  await db.run(sql`
    delete from alert_quiet_hours
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
  if (at.rows.length === 0) return
  await db.run(sql`
    insert into alert_quiet_hours (workspace_id, project_id, name, days, from_time, to_time, time_zone)
    select ${at.workspaceId}, ${at.projectId}, name, string_to_array(days, ','), from_time, to_time, time_zone
      from unnest(
             ${texts(at.rows.map((row) => row.name))},
             ${texts(at.rows.map((row) => row.days.join(',')))},
             ${texts(at.rows.map((row) => row.from))},
             ${texts(at.rows.map((row) => row.to))},
             ${texts(at.rows.map((row) => row.time_zone))}
           ) as row (name, days, from_time, to_time, time_zone)
  `)
}

// The loop

/** An alert as the loop leaves it, in the transaction that stores its event. */
export type SettledAlert = At & {
  readonly id: string
  readonly type: AlertType
  readonly subject_kind: AlertSubject
  readonly subject_id: string
  readonly subject_name: string
  readonly customer_id: string | null
  readonly severity: Severity
  readonly value: number
  readonly peak: number
  readonly detail: Readonly<Record<string, unknown>>
  readonly isResolved: boolean
  /** The state that its events have reported after this one; undefined: as before. */
  readonly announced: Severity | 'resolved' | undefined
  readonly held: boolean
  readonly silent: boolean
  readonly endsMute: boolean
}

/** Returns 0 when an alert of this cause is open by now. */
export function insertAlert(db: Db, row: SettledAlert & { now: Date }): Promise<number> {
  return db.run(sql`
    insert into alerts (workspace_id, project_id, id, type, subject_kind, subject_id, subject_name, customer_id, severity, value, peak, detail,
                        opened_at, updated_at, announced, announced_at, held, silent)
    values (${row.workspaceId}, ${row.projectId}, ${row.id}, ${row.type}, ${row.subject_kind}, ${row.subject_id}, ${row.subject_name},
            ${row.customer_id}, ${row.severity}, ${row.value}, ${row.peak}, ${JSON.stringify(row.detail)}::json, ${row.now}, ${row.now},
            ${row.announced ?? null}, ${row.announced === undefined ? null : row.now}, ${row.held}, ${row.silent})
    on conflict do nothing
  `)
}

/** Returns 0 when the alert is not open any more, or was announced by another run. */
export function updateAlert(
  db: Db,
  row: SettledAlert & { now: Date; wasAnnounced: Severity | 'resolved' | null; wasResolved: boolean },
): Promise<number> {
  return db.run(sql`
    update alerts
       set subject_name = ${row.subject_name},
           severity = ${row.severity},
           value = ${row.value},
           peak = ${row.peak},
           detail = ${JSON.stringify(row.detail)}::json,
           updated_at = ${row.now},
           resolved_at = case when ${row.isResolved}::boolean then coalesce(resolved_at, ${row.now}) end,
           announced = coalesce(${row.announced ?? null}, announced),
           announced_at = case when ${row.announced !== undefined}::boolean then ${row.now}::timestamptz else announced_at end,
           held = ${row.held},
           muted_until = case when ${row.endsMute}::boolean then null else muted_until end,
           muted_by = case when ${row.endsMute}::boolean then null else muted_by end
     where workspace_id = ${row.workspaceId}
       and project_id = ${row.projectId}
       and id = ${row.id}
       and (resolved_at is not null) = ${row.wasResolved}::boolean
       and announced is not distinct from ${row.wasAnnounced}
  `)
}

export async function insertAlertEvent(
  db: Db,
  row: At & { alertId: string; recordId: string; change: AlertChange; at: Date },
): Promise<void> {
  await db.run(sql`
    insert into alert_events (workspace_id, project_id, alert_id, record_id, change, at)
    values (${row.workspaceId}, ${row.projectId}, ${row.alertId}, ${row.recordId}, ${row.change}, ${row.at})
  `)
}
