/** A bucket refills by `perSecond` tokens a second, up to `burst`. `perSecond` 0: no limit. */
export type BucketLimit = { readonly perSecond: number; readonly burst: number }

/** A bucket stores one number: the time when it will be full again. An unused bucket is full. */
export type Bucket = { readonly fullAt: number }

/** The last digits of a sum of many refills are noise, so a token less than a microsecond away counts as available. */
const NOISE_MS = 0.001

type At = BucketLimit & { readonly now: number }

/** The bucket after it gave `tokens`, of which it may owe some. */
export function charged(bucket: Bucket | undefined, at: At & { readonly tokens: number }): Bucket {
  return { fullAt: Math.max(bucket?.fullAt ?? at.now, at.now) + (at.tokens * 1_000) / at.perSecond }
}

/** The milliseconds until the bucket owes nothing; 0: it has something to give. */
export function waitMsOf(bucket: Bucket | undefined, at: At): number {
  const emptyUntil = (bucket?.fullAt ?? at.now) - (at.burst * 1_000) / at.perSecond
  return emptyUntil > at.now - NOISE_MS ? Math.max(1, emptyUntil - at.now) : 0
}

/**
 * Takes one token at `now` (milliseconds). Returns the bucket after it, or the wait until the next token; in that case no token
 * is taken.
 */
export function takeToken(bucket: Bucket | undefined, at: At): Bucket | { readonly waitMs: number } {
  const after = charged(bucket, { ...at, tokens: 1 })
  const waitMs = after.fullAt - at.now - (at.burst * 1_000) / at.perSecond
  return waitMs > NOISE_MS ? { waitMs } : after
}
