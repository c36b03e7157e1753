/** A bucket refills by `perSecond` tokens a second and holds `burst` at most. `perSecond` 0: no limit. */
export type BucketLimit = { readonly perSecond: number; readonly burst: number }

/** What a bucket remembers is one number: when it will be full again. A bucket that nobody has used is full. */
export type Bucket = { readonly fullAt: number }

/** Of a sum of many refills the last digits are noise; a token less than a microsecond away is there. */
const NOISE_MS = 0.001

/**
 * Takes one token at `now` (milliseconds). Gives the bucket after it, or how long to wait for the next token; who waits
 * has taken nothing.
 */
export function takeToken(
  bucket: Bucket | undefined,
  at: BucketLimit & { readonly now: number },
): Bucket | { readonly waitMs: number } {
  const refillMs = 1_000 / at.perSecond
  const fullAt = Math.max(bucket?.fullAt ?? at.now, at.now) + refillMs
  const waitMs = fullAt - at.now - at.burst * refillMs
  return waitMs > NOISE_MS ? { waitMs } : { fullAt }
}
