import { sql, type Db } from '../../../../platform/db.ts'
import type { BillingEvent } from '../port.ts'

export type EndpointOfEvents = {
  readonly workspace_id: string
  readonly project_id: string
  readonly scheme: string
}

/** The endpoint that the operator named, in any workspace. */
export function findEndpoint(db: Db, id: string): Promise<EndpointOfEvents | undefined> {
  // oxlint-disable-next-line house/tenant-statement -- the setting names the endpoint alone
  return db.maybe<EndpointOfEvents>(sql`
    select workspace_id, project_id, coalesce(verification ->> 'scheme', 'none') as scheme
      from webhooks
     where id = ${id}
  `)
}

export type UntakenRow = { readonly id: string; readonly received_at: Date; readonly body: string | null }

/** The newest submission that was taken. */
export function findLastTaken(db: Db): Promise<{ submission_id: string } | undefined> {
  return db.maybe<{ submission_id: string }>(sql`
    select submission_id
      from billing_events
     order by submission_id desc
     limit 1
  `)
}

/** The requests of the endpoint from this id on that were not taken yet, oldest first. */
export function listUntaken(
  db: Db,
  at: { workspaceId: string; webhookId: string; fromId: string; limit: number },
): Promise<readonly UntakenRow[]> {
  return db.many<UntakenRow>(sql`
    select s.id, s.received_at, s.body
      from submissions s
     where s.workspace_id = ${at.workspaceId}
       and s.webhook_id = ${at.webhookId}
       and s.id >= ${at.fromId}
       and not exists (select from billing_events e where e.submission_id = s.id)
     order by s.id
     limit ${at.limit}
  `)
}

/** A request that changes no subscription, or repeats an event, gets a row that needs no work. */
export async function takeEvent(
  db: Db,
  row: { submissionId: string; receivedAt: Date; now: Date; event: BillingEvent | undefined },
): Promise<void> {
  const { id = null, type = null, customerId = null } = row.event ?? {}
  await db.run(sql`
    insert into billing_events (submission_id, event_id, type, customer_id, received_at, try_at, handled_at)
    select ${row.submissionId}, ${id}, ${type}, ${customerId}, ${row.receivedAt}, ${row.now},
           case when ${customerId}::text is null or exists (select from billing_events where event_id = ${id}) then ${row.now}::timestamptz end
    on conflict (submission_id) do nothing
  `)
}

/** The newest row stays, because it is the position of the reader. */
export async function pruneEvents(db: Db, at: { before: Date; last: string }): Promise<void> {
  await db.run(sql`
    delete from billing_events
     where handled_at < ${at.before}
       and submission_id < ${at.last}
  `)
}

export type OpenEvent = {
  readonly submission_id: string
  readonly customer_id: string
  readonly tries: number
}

export function listOpenEvents(db: Db, at: { now: Date; limit: number }): Promise<readonly OpenEvent[]> {
  return db.many<OpenEvent>(sql`
    select submission_id, customer_id, tries
      from billing_events
     where handled_at is null
       and try_at <= ${at.now}
     order by submission_id
     limit ${at.limit}
  `)
}

export async function setHandled(db: Db, at: { submissionIds: readonly string[]; now: Date }): Promise<void> {
  await db.run(sql`
    update billing_events
       set handled_at = ${at.now}
     where submission_id = any (${at.submissionIds}::uuid[])
       and handled_at is null
  `)
}

export async function setTriedAgainAt(db: Db, at: { submissionIds: readonly string[]; tryAt: Date }): Promise<void> {
  await db.run(sql`
    update billing_events
       set tries = tries + 1,
           try_at = ${at.tryAt}
     where submission_id = any (${at.submissionIds}::uuid[])
       and handled_at is null
  `)
}
