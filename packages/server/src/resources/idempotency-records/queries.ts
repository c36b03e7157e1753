import { sql, type Db } from '../../platform/db.ts'

type At = { readonly workspaceId: string; readonly keyHash: Uint8Array }
type Claimed = { readonly workspaceId: string; readonly id: string }

export type IdempotencyRecordRow = {
  readonly id: string
  readonly fingerprint: Buffer
  readonly claimed_at: Date
  readonly status: number | null
  readonly response: Buffer | null
}

/** One claim in a workspace at a time, until the transaction ends: so the number of keys is exact. */
export async function lockClaims(db: Db, workspaceId: string): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended(${workspaceId}, 4681))`)
}

export function findRecord(db: Db, at: At): Promise<IdempotencyRecordRow | undefined> {
  return db.maybe<IdempotencyRecordRow>(sql`
    select id, fingerprint, claimed_at, status, response
      from idempotency_records
     where workspace_id = ${at.workspaceId}
       and key_hash = ${at.keyHash}
  `)
}

/** Those claimed after `since`. */
export async function countRecords(db: Db, at: { workspaceId: string; since: Date }): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from idempotency_records
     where workspace_id = ${at.workspaceId}
       and claimed_at > ${at.since}
  `)
  return count
}

/** Takes the key, also from a claim that was abandoned or is over; the caller has looked and holds `lockClaims`. */
export async function putClaim(db: Db, row: At & { id: string; fingerprint: Uint8Array; now: Date }): Promise<void> {
  await db.run(sql`
    insert into idempotency_records (workspace_id, id, key_hash, fingerprint, claimed_at)
    values (${row.workspaceId}, ${row.id}, ${row.keyHash}, ${row.fingerprint}, ${row.now})
    on conflict (workspace_id, key_hash) do update
       set id = excluded.id,
           fingerprint = excluded.fingerprint,
           claimed_at = excluded.claimed_at,
           status = null,
           response = null
  `)
}

/** Keeps the answer of a claim that is still running; 0 when another request has taken the key over. */
export function keepResponse(db: Db, row: Claimed & { status: number; response: Uint8Array }): Promise<number> {
  return db.run(sql`
    update idempotency_records
       set status = ${row.status},
           response = ${row.response}
     where workspace_id = ${row.workspaceId}
       and id = ${row.id}
       and status is null
  `)
}

/** Frees the key of a claim that is still running; 0 when another request has taken it over. */
export function deleteClaim(db: Db, at: Claimed): Promise<number> {
  return db.run(sql`
    delete from idempotency_records
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and status is null
  `)
}

/** Removes up to `limit` records of all workspaces that were claimed before `since`; gives how many. */
export function pruneRecords(db: Db, { since, limit }: { since: Date; limit: number }): Promise<number> {
  return db.run(sql`
    delete from idempotency_records
     where ctid = any (array(
             select ctid
               from idempotency_records
              where claimed_at <= ${since}
              order by claimed_at
              limit ${limit}
           ))
  `)
}
