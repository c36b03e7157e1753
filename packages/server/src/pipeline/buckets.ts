import { takeToken, type Bucket, type BucketLimit } from '../domain/capture/token-bucket.ts'

/** The burst limits of this process: one bucket for each credential that was used. */
export type Buckets = {
  /** Takes a token; gives 0, or the milliseconds until there is one. */
  take(credential: string, at: BucketLimit & { readonly now: number }): number
}

const BUCKETS_MAX = 50_000

/**
 * Counted by each process on its own, which the contract allows (part 8). Only credentials that exist have a bucket; when
 * there are too many of them the oldest begins anew, full.
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
