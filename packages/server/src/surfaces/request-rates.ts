import { LIMITS } from '@postroad/contract'

/**
 * How many requests each credential has made in its window of 10 seconds, at this process; surfaces that share a limit
 * share one of these. The contract lets every process count for itself (part 8).
 */
export type RequestRates = {
  /** Counts a request; false when the credential has made as many as it may. */
  take(credential: string, now: number): boolean
}

type Window = { readonly endsAt: number; count: number }

const CREDENTIALS_MAX = 50_000

/** `max` requests in 10 seconds, counted from a credential's first; 0: no limit. After 10 seconds each has all of them again. */
export function createRequestRates(max: number): RequestRates {
  const windows = new Map<string, Window>()
  return {
    take: (credential, now) => {
      if (max === 0) return true
      const known = windows.get(credential)
      if (known !== undefined && now < known.endsAt) {
        known.count += 1
        return known.count <= max
      }
      // Put at the end: the oldest windows stand first, and go first when there are too many.
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
