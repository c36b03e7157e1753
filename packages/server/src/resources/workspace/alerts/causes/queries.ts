import { alertFacts, type AlertSubject, type AlertType, type QuietHours } from '@postroad/contract'
import { sql, type Db, type Sql } from '../../../../platform/db.ts'
import { causesOf, type Moment } from './found/queries.ts'

export type { Moment } from './found/queries.ts'

const DAY_MS = 86_400_000

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
