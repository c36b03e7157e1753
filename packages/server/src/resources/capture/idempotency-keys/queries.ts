import { sql, texts, type Db, type Sql } from '../../../platform/db.ts'
import { begunBy } from '../../../platform/server-facts.ts'

/** A key that a commit consumes, with the response for its repeats. Hashes are SHA-256 in hex. */
export type IdempotencyKeyRow = {
  readonly workspace_id: string
  readonly key_hash: string
  readonly fingerprint: string | null
  /** The hash of the key without the body; absent: the key has no body. */
  readonly id_hash?: string | undefined
  readonly submission_id: string
  readonly received_at: Date
  readonly answer: string
}

/** Locks a key until the transaction ends, unless another transaction has it (its request is in progress). It never waits, so it cannot deadlock. */
const LOCKS_KEY = sql`pg_try_advisory_xact_lock(('x' || left(key_hash, 16))::bit(64)::bigint)`

/** Locks each key until the transaction ends, unless another transaction has it. Returns the keys that are locked now. */
export async function lockKeys(db: Db, keyHashes: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ key_hash: string }>(sql`
    select key_hash
      from unnest(${keyHashes}::text[]) as key_hash
     where ${LOCKS_KEY}
  `)
  return new Set(rows.map((row) => row.key_hash))
}

export type KeysAt = {
  readonly keys: readonly Pick<IdempotencyKeyRow, 'workspace_id' | 'key_hash'>[]
  readonly since: Date
}

/**
 * The keys among these that requests after `since` have consumed. It checks `since` on each row that it found, because
 * a plan made for a small table could search all rows after `since` for each key.
 */
export function findKeys(db: Db, { keys, since }: KeysAt): Promise<readonly IdempotencyKeyRow[]> {
  return db.many<IdempotencyKeyRow>(sql`
    select found.workspace_id, asked.key_hash, encode(found.fingerprint, 'hex') as fingerprint, found.submission_id,
           found.received_at, found.answer
      from (
             select unnest(${keys.map((key) => key.workspace_id)}::uuid[]) as workspace_id,
                    unnest(${keys.map((key) => key.key_hash)}::text[]) as key_hash
           ) asked
     cross join lateral (
             select workspace_id, fingerprint, submission_id, received_at, answer
               from idempotency_keys k
              where k.workspace_id = asked.workspace_id
                and k.key_hash = decode(asked.key_hash, 'hex')
              limit 1
           ) found
     where found.received_at > ${since}
  `)
}

export type Consumption = { readonly rows: readonly IdempotencyKeyRow[]; readonly since: Date }

/** Consumes keys that the transaction has locked. Returns how many; the others are taken. */
export function consumeKeys(db: Db, consumption: Consumption): Promise<number> {
  return db.run(consumingKeys(consumption, sql``))
}

/**
 * A part of a statement that must start before `deadline` by PostgreSQL's clock. Consumes the keys that it can lock and
 * that are not taken, and returns their `submission_id`s. No key may occur twice.
 */
export function consumingFreeKeys({ deadline, ...consumption }: Consumption & { readonly deadline: Date }): Sql {
  return sql`${consumingKeys(consumption, sql`where ${begunBy(deadline)} and ${LOCKS_KEY}`)} returning submission_id`
}

/** A key that was consumed before `since` counts as new. */
function consumingKeys({ rows, since }: Consumption, which: Sql): Sql {
  const named = rows.some((row) => row.id_hash !== undefined)
  return sql`
    insert into idempotency_keys (workspace_id, key_hash, fingerprint, submission_id, received_at, answer ${named ? sql`, id_hash` : sql``})
    select workspace_id, decode(key_hash, 'hex'), decode(fingerprint, 'hex'), submission_id, received_at, answer
           ${named ? sql`, decode(id_hash, 'hex')` : sql``}
      from (
             select unnest(${rows.map((row) => row.workspace_id)}::uuid[]) as workspace_id,
                    unnest(${rows.map((row) => row.key_hash)}::text[]) as key_hash,
                    unnest(${rows.map((row) => row.fingerprint)}::text[]) as fingerprint,
                    unnest(${rows.map((row) => row.submission_id)}::uuid[]) as submission_id,
                    ${named ? sql`unnest(${rows.map((row) => row.id_hash ?? null)}::text[]) as id_hash,` : sql``}
                    unnest(${rows.map((row) => row.received_at)}::timestamptz[]) as received_at,
                    unnest(${texts(rows.map((row) => row.answer))}) as answer
           ) row
     ${which}
     order by key_hash
    on conflict (workspace_id, key_hash) do update
       set fingerprint = excluded.fingerprint,
           submission_id = excluded.submission_id,
           received_at = excluded.received_at,
           answer = excluded.answer
     where idempotency_keys.received_at <= ${since}`
}

/** Removes up to `limit` keys of all workspaces that were consumed before `since`. Returns how many. */
export function pruneKeys(db: Db, { since, limit }: { since: Date; limit: number }): Promise<number> {
  // oxlint-disable-next-line house/tenant-statement -- upkeep prunes every workspace
  return db.run(sql`
    delete from idempotency_keys
     where ctid = any (array(
             select ctid
               from idempotency_keys
              where received_at <= ${since}
              order by received_at
              limit ${limit}
           ))
  `)
}
