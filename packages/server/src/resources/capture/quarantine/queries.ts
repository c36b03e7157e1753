import { sql, type Db } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

type At = { readonly workspaceId: string; readonly projectId: string }
type OfWebhook = At & { readonly webhookId: string }

export type QuarantinedRow = {
  readonly id: string
  readonly received_at: Date
  readonly expires_at: Date
  readonly reason: 'missing_header' | 'bad_signature'
  readonly source_ip: string | null
  readonly bytes: number
}

/** Stores a request, unless the endpoint has reached its limit of requests or bytes. Returns whether it stored it. */
export async function insertQuarantined(
  db: Db,
  row: OfWebhook & QuarantinedRow & { request: Buffer; requestsMax: number; bytesMax: number },
): Promise<boolean> {
  const stored = await db.run(sql`
    insert into quarantined_requests (workspace_id, project_id, id, webhook_id, reason, received_at, expires_at, source_ip, bytes, request)
    select w.workspace_id, w.project_id, ${row.id}::uuid, w.id, ${row.reason}::text, ${row.received_at}::timestamptz,
           ${row.expires_at}::timestamptz, ${row.source_ip}::text, ${row.bytes}::int, ${row.request}::bytea
      from webhooks w
     cross join lateral (
             select count(*) as count, coalesce(sum(q.bytes), 0) as bytes
               from quarantined_requests q
              where q.workspace_id = w.workspace_id
                and q.project_id = w.project_id
                and q.webhook_id = w.id
           ) held
     where w.workspace_id = ${row.workspaceId}
       and w.project_id = ${row.projectId}
       and w.id = ${row.webhookId}
       and w.quarantine_hours > 0
       and held.count < ${row.requestsMax}
       and held.bytes + ${row.bytes} <= ${row.bytesMax}
       for key share of w
  `)
  return stored > 0
}

export type QuarantineRow = {
  readonly hours: number
  readonly count: number
  readonly bytes: number
  readonly checked_at: Date | null
}

export function findQuarantine(db: Db, at: OfWebhook): Promise<QuarantineRow | undefined> {
  return db.maybe<QuarantineRow>(sql`
    select w.quarantine_hours as hours, held.count, held.bytes, w.quarantine_checked_at as checked_at
      from webhooks w
     cross join lateral (
             select count(*) as count, coalesce(sum(q.bytes), 0)::bigint as bytes
               from quarantined_requests q
              where q.workspace_id = w.workspace_id
                and q.project_id = w.project_id
                and q.webhook_id = w.id
           ) held
     where w.workspace_id = ${at.workspaceId}
       and w.project_id = ${at.projectId}
       and w.id = ${at.webhookId}
  `)
}

/** The hours of each endpoint of a project that has a quarantine. */
export function listQuarantineHours(
  db: Db,
  at: At,
): Promise<readonly { readonly webhook_id: string; readonly hours: number }[]> {
  return db.many(sql`
    select id as webhook_id, quarantine_hours as hours
      from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and quarantine_hours > 0
  `)
}

/** Newest first. */
export function listQuarantined(db: Db, at: OfWebhook & { limit: number }): Promise<readonly QuarantinedRow[]> {
  return db.many<QuarantinedRow>(sql`
    select id, received_at, expires_at, reason, source_ip, bytes
      from quarantined_requests
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
     order by id desc
     limit ${at.limit}
  `)
}

/** Sets the hours, also of the stored requests. Returns how many endpoints. */
export async function setQuarantine(db: Db, at: OfWebhook & { hours: number }): Promise<number> {
  const found = await db.run(sql`
    update webhooks
       set quarantine_hours = ${at.hours}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.webhookId}
  `)
  await db.run(sql`
    update quarantined_requests
       set expires_at = received_at + make_interval(hours => ${at.hours}::int)
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
  `)
  return found
}

/** Makes the loop verify the requests again. Returns how many endpoints. */
export function askToVerify(db: Db, at: OfWebhook): Promise<number> {
  return db.run(sql`
    update webhooks
       set quarantine_checked_at = null
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.webhookId}
  `)
}

export function deleteQuarantined(db: Db, at: OfWebhook): Promise<number> {
  return db.run(sql`
    delete from quarantined_requests
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and webhook_id = ${at.webhookId}
  `)
}

/** Deletes the requests of all workspaces whose hours have passed. Returns how many. */
export function deleteExpiredQuarantined(db: Db, now: Date): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- the loop expires the requests of every workspace
  return db.run(sql`delete from quarantined_requests where expires_at <= ${now}`)
}

export type UncheckedWebhook = { readonly workspace_id: string; readonly project_id: string; readonly id: string }

/** Endpoints that changed after their requests were last verified, except those in `without`. Those of an inactive workspace wait. */
export function listUnchecked(
  db: Db,
  { without, limit }: { without: readonly string[]; limit: number },
): Promise<readonly UncheckedWebhook[]> {
  // oxlint-disable-next-line house/tenant-statement -- the loop verifies for every workspace
  return db.many<UncheckedWebhook>(sql`
    select w.workspace_id, w.project_id, w.id
      from (select distinct workspace_id, project_id, webhook_id from quarantined_requests) q
      join webhooks w
        on w.workspace_id = q.workspace_id
       and w.project_id = q.project_id
       and w.id = q.webhook_id
      join workspaces p
        on p.id = w.workspace_id
     where (w.quarantine_checked_at is null or w.quarantine_checked_at < w.updated_at)
       and w.enabled
       and w.id <> all (${without}::uuid[])
       and p.suspended_at is null
       and p.closed_at is null
     limit ${limit}
  `)
}

/** Records that all requests up to now were verified with the settings that the endpoint had at `updatedAt`. */
export async function setChecked(db: Db, at: OfWebhook & { now: Date; updatedAt: Date }): Promise<void> {
  await db.run(sql`
    update webhooks
       set quarantine_checked_at = ${at.now}
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.webhookId}
       and updated_at = ${at.updatedAt}
  `)
}

export function findUpdatedAt(db: Db, at: OfWebhook): Promise<{ readonly updated_at: Date } | undefined> {
  return db.maybe<{ updated_at: Date }>(sql`
    select updated_at
      from webhooks
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = ${at.webhookId}
  `)
}

export type SealedRequest = {
  readonly id: string
  readonly received_at: Date
  readonly source_ip: string | null
  readonly request: Buffer
}

/** The next requests of an endpoint in the order in which they came, as many as fit into memory. */
export function listSealed(
  db: Db,
  at: OfWebhook & { after: string; limit: number; bytesMax: number },
): Promise<readonly SealedRequest[]> {
  return db.many<SealedRequest>(sql`
    select id, received_at, source_ip, request
      from (
             select id, received_at, source_ip, request,
                    sum(bytes) over (order by id rows between unbounded preceding and 1 preceding) as older_bytes
               from quarantined_requests
              where workspace_id = ${at.workspaceId}
                and project_id = ${at.projectId}
                and webhook_id = ${at.webhookId}
                and id > ${at.after}
              order by id
              limit ${at.limit}
           ) sized
     where coalesce(older_bytes, 0) < ${at.bytesMax}
     order by id
  `)
}

/** Deletes requests; returns the ids that were still there, so that two processes never admit the same one. */
export async function takeOut(db: Db, at: At & { ids: readonly string[] }): Promise<readonly string[]> {
  const rows = await db.many<{ id: string }>(sql`
    delete from quarantined_requests
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
       and id = any (${at.ids}::uuid[])
    returning id
  `)
  return rows.map(({ id }) => id)
}

/** When a request is in quarantine. */
// oxlint-disable-next-line house/tenant-statement -- the loop covers every workspace
export const quarantineDue: Due = () => sql`select from quarantined_requests`
