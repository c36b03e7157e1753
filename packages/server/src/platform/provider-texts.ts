import type { Clock } from './clock.ts'
import type { OutboundHttp } from './outbound-http.ts'

/**
 * The text at a URL of a provider. `unavailable`: the provider cannot be reached now. `invalid`: it has no certificate and no
 * keys there.
 */
export type Fetched = { readonly text: string } | 'unavailable' | 'invalid'

/** The certificates and the keys that providers publish, fetched through the guard of outgoing requests. */
export type ProviderTexts = {
  /** Synchronous when it is cached. The caller has checked that the URL is of the provider. */
  at(url: string): Fetched | Promise<Fetched>
  /**
   * The text once more, for a key that the cached text lacks. Within a minute of the last fetch it is the cached one, so a flood
   * of forged key ids fetches nothing.
   */
  again(url: string): Fetched | Promise<Fetched>
}

/** A sender waits at most this long for its answer. */
const TIMEOUT_MS = 3_000
const FETCHES_MAX = 8
const ENTRIES_MAX = 1_000
const CACHED_MS = { text: 86_400_000, invalid: 60_000, unavailable: 5_000 } as const
const FRESH_MS = 60_000

type Entry = { readonly fetched: Fetched; readonly until: number; readonly at: number }

/**
 * Fetches a text once for all requests that wait for it. A stranger can name any URL of the provider, so concurrent
 * fetches and cached results are limited. Beyond a limit the result is `unavailable`, and the sender tries again.
 */
export function createProviderTexts({
  outbound,
  clock,
  isReadable,
}: {
  readonly outbound: OutboundHttp
  readonly clock: Clock
  /** Whether a text has a certificate or keys. */
  readonly isReadable: (text: string) => boolean
}): ProviderTexts {
  const cached = new Map<string, Entry>()
  const underWay = new Map<string, Promise<Fetched>>()

  const store = (url: string, fetched: Fetched): Fetched => {
    const known = cached.get(url)
    cached.delete(url)
    for (const oldest of cached.keys()) {
      if (cached.size < ENTRIES_MAX) break
      cached.delete(oldest)
    }
    const at = clock.now()
    // A text stays in use while its provider cannot be reached.
    if (typeof fetched === 'string' && typeof known?.fetched === 'object' && known.until > at) {
      cached.set(url, { ...known, at })
      return known.fetched
    }
    cached.set(url, { fetched, at, until: at + CACHED_MS[typeof fetched === 'string' ? fetched : 'text'] })
    return fetched
  }

  const fetch = async (url: string): Promise<Fetched> => {
    const result = await outbound.request({ url, method: 'GET', headers: {}, body: '', timeoutMs: TIMEOUT_MS })
    if (result.kind === 'failure' || result.status >= 500 || result.status === 429 || result.truncated)
      return 'unavailable'
    return result.status === 200 && isReadable(result.body) ? { text: result.body } : 'invalid'
  }

  const fetched = (url: string): Fetched | Promise<Fetched> => {
    const waiting = underWay.get(url)
    if (waiting !== undefined) return waiting
    if (underWay.size >= FETCHES_MAX) return 'unavailable'
    const fetching = fetch(url)
      .then((result) => store(url, result))
      .finally(() => underWay.delete(url))
    underWay.set(url, fetching)
    return fetching
  }

  return {
    at: (url) => {
      const known = cached.get(url)
      return known !== undefined && known.until > clock.now() ? known.fetched : fetched(url)
    },
    again: (url) => {
      const known = cached.get(url)
      return known !== undefined && known.at + FRESH_MS > clock.now() ? known.fetched : fetched(url)
    },
  }
}
