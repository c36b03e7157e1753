import { sql, type Db, type Sql } from '../../../platform/db.ts'

/** The owner of keys: a workspace, or a person for requests about their workspaces. Each has separate keys. */
export type Holder = { readonly kind: 'workspace' | 'person'; readonly id: string }

type Place = { readonly table: Sql; readonly holder: Sql }

const PLACES: Readonly<Record<Holder['kind'], Place>> = {
  workspace: { table: sql`idempotency_records`, holder: sql`workspace_id` },
  person: { table: sql`personal_idempotency_records`, holder: sql`user_id` },
}

type At = { readonly holder: Holder; readonly keyHash: Uint8Array }
type Claimed = { readonly holder: Holder; readonly id: string }

export type IdempotencyRecordRow = {
  readonly id: string
  readonly fingerprint: Buffer
  readonly claimed_at: Date
  readonly status: number | null
  readonly response: Buffer | null
}

/** Locks the claims of a holder until the transaction ends, so that the number of keys is exact. */
export async function lockClaims(db: Db, { kind, id }: Holder): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(hashtextextended(${`${kind} ${id}`}, 4681))`)
}

export function findRecord(db: Db, at: At): Promise<IdempotencyRecordRow | undefined> {
  const { table, holder } = PLACES[at.holder.kind]
  return db.maybe<IdempotencyRecordRow>(sql`
    select id, fingerprint, claimed_at, status, response
      from ${table}
     where ${holder} = ${at.holder.id}
       and key_hash = ${at.keyHash}
  `)
}

/** The number of keys claimed after `since`. */
export async function countRecords(db: Db, at: { holder: Holder; since: Date }): Promise<number> {
  const { table, holder } = PLACES[at.holder.kind]
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from ${table}
     where ${holder} = ${at.holder.id}
       and claimed_at > ${at.since}
  `)
  return count
}

/** Takes the key, also from a claim that was abandoned or has expired. The caller has checked that under `lockClaims`. */
export async function putClaim(db: Db, row: At & { id: string; fingerprint: Uint8Array; now: Date }): Promise<void> {
  const { table, holder } = PLACES[row.holder.kind]
  await db.run(sql`
    insert into ${table} (${holder}, id, key_hash, fingerprint, claimed_at)
    values (${row.holder.id}, ${row.id}, ${row.keyHash}, ${row.fingerprint}, ${row.now})
    on conflict (${holder}, key_hash) do update
       set id = excluded.id,
           fingerprint = excluded.fingerprint,
           claimed_at = excluded.claimed_at,
           status = null,
           response = null
  `)
}

/** Stores the response of a claim that is still running; 0 when another request has taken the key over. */
export function keepResponse(db: Db, row: Claimed & { status: number; response: Uint8Array }): Promise<number> {
  const { table, holder } = PLACES[row.holder.kind]
  return db.run(sql`
    update ${table}
       set status = ${row.status},
           response = ${row.response}
     where ${holder} = ${row.holder.id}
       and id = ${row.id}
       and status is null
  `)
}

/** Frees the key of a claim that is still running; 0 when another request has taken it over. */
export function deleteClaim(db: Db, at: Claimed): Promise<number> {
  const { table, holder } = PLACES[at.holder.kind]
  return db.run(sql`
    delete from ${table}
     where ${holder} = ${at.holder.id}
       and id = ${at.id}
       and status is null
  `)
}

/** Removes up to `limit` records of all holders of a kind that were claimed before `since`. Returns how many. */
export function pruneRecords(
  db: Db,
  { of, since, limit }: { of: Holder['kind']; since: Date; limit: number },
): Promise<number> {
  const { table } = PLACES[of]
  return db.run(sql`
    delete from ${table}
     where ctid = any (array(
             select ctid
               from ${table}
              where claimed_at <= ${since}
              order by claimed_at
              limit ${limit}
           ))
  `)
}
