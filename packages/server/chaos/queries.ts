import { sql, type Db } from '../src/platform/db.ts'

/** What is in the store, told by SQL alone: the checker does not ask the code under test. */
export type StoredRow = { readonly record_id: string | null; readonly dataset: string | null; readonly event: string | null; readonly sha256: string | null }

/** Every submission with each of its records; one without records stands once, with nulls. */
export function storedEvents(db: Db, at: { workspaceId: string }): Promise<readonly StoredRow[]> {
  return db.many<StoredRow>(sql`
    select r.id as record_id, r.dataset, s.body::json ->> 'event' as event,
           encode(sha256(convert_to(s.body, 'UTF8')), 'hex') as sha256
      from submissions s
      left join records r
        on r.workspace_id = s.workspace_id
       and r.project_id = s.project_id
       and r.submission_id = s.id
     where s.workspace_id = ${at.workspaceId}
  `)
}

export type DeliveryRow = { readonly id: string; readonly record_id: string; readonly destination_id: string; readonly state: string }

export function deliveries(db: Db, at: { workspaceId: string }): Promise<readonly DeliveryRow[]> {
  return db.many<DeliveryRow>(sql`
    select id, record_id, destination_id, state
      from deliveries
     where workspace_id = ${at.workspaceId}
  `)
}

export type AttemptRow = {
  readonly id: string
  readonly delivery_id: string
  readonly number: number
  readonly outcome: string | null
  readonly started_at: Date
}

export function attempts(db: Db, at: { workspaceId: string }): Promise<readonly AttemptRow[]> {
  return db.many<AttemptRow>(sql`
    select id, delivery_id, number, outcome, started_at
      from delivery_attempts
     where workspace_id = ${at.workspaceId}
     order by delivery_id, number
  `)
}

/** Deliveries that have not come to an end. */
export async function countOutstanding(db: Db, at: { workspaceId: string }): Promise<number> {
  const { outstanding } = await db.one<{ outstanding: number }>(sql`
    select count(*) as outstanding
      from deliveries
     where workspace_id = ${at.workspaceId}
       and state not in ('delivered', 'failed', 'cancelled')
  `)
  return outstanding
}

/** For the plant `no-reclaim`: whoever has died is believed to live for ever. */
export async function keepOwners(db: Db): Promise<void> {
  await db.run(sql`
    create or replace rule keep_owners as
        on delete to lane_owners
        do instead nothing
  `)
}

/** For the plant `no-reclaim`. */
export async function extendOwners(db: Db): Promise<void> {
  await db.run(sql`
    update lane_owners
       set lease_until = 'infinity'
  `)
}
