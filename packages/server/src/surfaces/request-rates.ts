import { LIMITS } from '@postroad/contract'

/**
 * Counts the requests of each credential in its window of 10 seconds, in this process. Surfaces that share a limit share one of these.
 * The contract lets every process count separately (part 8).
 */
export type RequestRates = {
  /** Counts a request; false when the credential has used up its limit. `most` replaces the common limit for this credential. */
  take(credential: string, now: number, most?: number): boolean
}

type Window = { readonly endsAt: number; count: number }

const CREDENTIALS_MAX = 50_000

/** `max` requests in 10 seconds from the first request of a credential; 0: no limit. After 10 seconds the limit is available again. */
export function createRequestRates(max: number): RequestRates {
  const windows = new Map<string, Window>()
  return {
    take: (credential, now, most = max) => {
      if (most === 0) return true
      const known = windows.get(credential)
      if (known !== undefined && now < known.endsAt) {
        known.count += 1
        return known.count <= most
      }
      // Appended at the end: the oldest windows come first, and are dropped first when there are too many.
      windows.delete(credential)
      if (windows.size >= CREDENTIALS_MAX) dropOldest(windows)
      windows.set(credential, { endsAt: now + LIMITS.adminRequestsWindowMs, count: 1 })
      return true
    },
  }
}

function dropOldest(windows: Map<string, Window>): void {
  for (const oldest of windows.keys()) {
    windows.delete(oldest)
    return
  }
}
