import { sql, type Db } from '../../../platform/db.ts'

export type Bucket = {
  readonly hash: Uint8Array
  readonly now: Date
  readonly refillMs: number
  readonly burst: number
}

/** Takes a token of a bucket in one statement, so two nodes never take the same one; undefined when none is left. */
export function takeToken(db: Db, { hash, now, refillMs, burst }: Bucket): Promise<{ full_at: Date } | undefined> {
  const [refill, room] = [`${refillMs} milliseconds`, `${refillMs * burst} milliseconds`]
  return db.maybe<{ full_at: Date }>(sql`
    insert into throttles as t (hash, full_at)
    values (${hash}, ${now}::timestamptz + ${refill}::interval)
    on conflict (hash) do update
       set full_at = greatest(t.full_at, ${now}::timestamptz) + ${refill}::interval
     where greatest(t.full_at, ${now}::timestamptz) + ${refill}::interval <= ${now}::timestamptz + ${room}::interval
    returning full_at
  `)
}

export function findBucket(db: Db, hash: Uint8Array): Promise<{ full_at: Date } | undefined> {
  return db.maybe<{ full_at: Date }>(sql`
    select full_at
      from throttles
     where hash = ${hash}
  `)
}

export async function fillBucket(db: Db, hash: Uint8Array): Promise<void> {
  await db.run(sql`
    delete from throttles
     where hash = ${hash}
  `)
}

/** Deletes full buckets, which are the same as new ones. */
export function deleteFullBuckets(db: Db, now: Date): Promise<number> {
  return db.run(sql`
    delete from throttles
     where full_at < ${now}
  `)
}
