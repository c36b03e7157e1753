import { takeToken, type Bucket, type BucketLimit } from './token-bucket.ts'

/** The burst limits of this process: one bucket for each credential in use. */
export type Buckets = {
  /** Takes a token. Returns 0, or the milliseconds until the next token. */
  take(credential: string, at: BucketLimit & { readonly now: number }): number
}

const BUCKETS_MAX = 50_000

/**
 * Each process counts on its own, which the contract allows (part 8). Only existing credentials have a bucket. When there are
 * too many, the oldest is dropped and starts full again.
 */
export function createBuckets(): Buckets {
  const buckets = new Map<string, Bucket>()
  return {
    take: (credential, at) => {
      if (at.perSecond === 0) return 0
      const known = buckets.get(credential)
      const taken = takeToken(known, at)
      if ('waitMs' in taken) return taken.waitMs
      if (known === undefined && buckets.size >= BUCKETS_MAX) dropOldest(buckets)
      buckets.set(credential, taken)
      return 0
    },
  }
}

function dropOldest(buckets: Map<string, Bucket>): void {
  for (const oldest of buckets.keys()) {
    buckets.delete(oldest)
    return
  }
}
