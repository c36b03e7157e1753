import { X509Certificate } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { OutboundHttp } from './outbound-http.ts'

/**
 * A certificate at a URL of its provider. `unavailable`: the provider cannot be reached now. `invalid`: the provider has no
 * certificate there.
 */
export type Fetched = X509Certificate | 'unavailable' | 'invalid'

/** The certificates that providers publish, fetched through the guard of outgoing requests. */
export type Certificates = {
  /** Synchronous when it is cached. The caller has checked that the URL is of the provider. */
  at(url: string): Fetched | Promise<Fetched>
}

/** A sender waits at most this long for its answer. */
const TIMEOUT_MS = 3_000
const FETCHES_MAX = 8
const ENTRIES_MAX = 1_000
const CACHED_MS = { certificate: 86_400_000, invalid: 60_000, unavailable: 5_000 } as const

type Entry = { readonly fetched: Fetched; readonly until: number }

/**
 * Fetches a certificate once for all requests that wait for it. A stranger can name any URL of the provider, so
 * concurrent fetches and cached results are limited. Beyond a limit the result is `unavailable`, and the sender tries
 * again.
 */
export function createCertificates({
  outbound,
  clock,
}: {
  readonly outbound: OutboundHttp
  readonly clock: Clock
}): Certificates {
  const cached = new Map<string, Entry>()
  const underWay = new Map<string, Promise<Fetched>>()

  const store = (url: string, fetched: Fetched): Fetched => {
    cached.delete(url)
    for (const oldest of cached.keys()) {
      if (cached.size < ENTRIES_MAX) break
      cached.delete(oldest)
    }
    const kind = typeof fetched === 'string' ? fetched : 'certificate'
    cached.set(url, { fetched, until: clock.now() + CACHED_MS[kind] })
    return fetched
  }

  const fetch = async (url: string): Promise<Fetched> => {
    const result = await outbound.request({ url, method: 'GET', headers: {}, body: '', timeoutMs: TIMEOUT_MS })
    if (result.kind === 'failure' || result.status >= 500 || result.status === 429 || result.truncated)
      return 'unavailable'
    return result.status === 200 ? certificateIn(result.body) : 'invalid'
  }

  return {
    at: (url) => {
      const known = cached.get(url)
      if (known !== undefined && known.until > clock.now()) return known.fetched
      const waiting = underWay.get(url)
      if (waiting !== undefined) return waiting
      if (underWay.size >= FETCHES_MAX) return 'unavailable'
      const fetching = fetch(url)
        .then((fetched) => store(url, fetched))
        .finally(() => underWay.delete(url))
      underWay.set(url, fetching)
      return fetching
    },
  }
}

/** The first certificate of a PEM file. */
function certificateIn(text: string): Fetched {
  try {
    return new X509Certificate(text)
  } catch {
    return 'invalid'
  }
}
