/** A bucket refills by `perSecond` tokens a second, up to `burst`. `perSecond` 0: no limit. */
export type BucketLimit = { readonly perSecond: number; readonly burst: number }

/** A bucket stores one number: the time when it will be full again. An unused bucket is full. */
export type Bucket = { readonly fullAt: number }

/** The last digits of a sum of many refills are noise, so a token less than a microsecond away counts as available. */
const NOISE_MS = 0.001

/**
 * Takes one token at `now` (milliseconds). Returns the bucket after it, or the wait until the next token; in that case no token
 * is taken.
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
