import type { Clock } from './clock.ts'
import type { OutboundHttp, OutboundResponse } from './outbound-http.ts'

/**
 * The text at a URL of a provider. `unavailable`: the provider cannot be reached now. `invalid`: it has no certificate and no
 * keys there.
 */
export type FoundText = { readonly text: string } | 'unavailable' | 'invalid'

/** `isFresh`: the cached text lacks a key. Within a minute of the last fetch the text is the cached one all the same. */
type Asked = { readonly url: string; readonly isFresh?: true }

/** Texts by their URLs. An answer is synchronous when it is cached. */
export type Texts = { at(asked: Asked): FoundText | Promise<FoundText> }

/** The certificates and the keys that providers publish, fetched through the guard of outgoing requests. */
export type ProviderTexts = {
  /** Certificates. The caller has checked that the URL is of the provider. */
  readonly certificates: Texts
  /** The keys of the issuers that a workspace chose: its own, so that no workspace slows down the fetches of another. */
  keysOf(workspaceId: string): Texts
}

/** A sender waits at most this long for its answer. */
const TIMEOUT_MS = 3_000
/** A key set with certificates in it has more than 16 KiB. */
const TEXT_BYTES_MAX = 65_536
const FAILED_MS = { invalid: 60_000, unavailable: 5_000 } as const
/** A flood of forged key ids causes at most one fetch of a text in this time. */
const FRESH_MS = 60_000
const CERTIFICATE_MS = 86_400_000
const KEYS_MS = { min: 60_000, usual: 3_600_000, max: 86_400_000 } as const
const CERTIFICATES = { fetchesMax: 8, entriesMax: 1_000 } as const
const KEYS = { fetchesMax: 4, entriesMax: 16 } as const
const WORKSPACES_MAX = 500

type Options = {
  readonly outbound: OutboundHttp
  readonly clock: Clock
  /** Whether a text has a certificate or keys. */
  readonly isReadable: (text: string) => boolean
}
type Limits = { readonly fetchesMax: number; readonly entriesMax: number }
type Entry = { readonly found: FoundText; readonly until: number; readonly at: number }
type Fetched = { readonly found: FoundText; readonly forMs: number }

export function createProviderTexts(options: Options): ProviderTexts {
  const workspaces = new Map<string, Texts>()
  const fetchKeys = fetcher(options, keysMs)
  return {
    certificates: createTexts(options.clock, { ...CERTIFICATES, fetch: fetcher(options, () => CERTIFICATE_MS) }),
    keysOf: (id) => {
      const known = workspaces.get(id)
      if (known !== undefined) return known
      const [oldest] = workspaces.keys()
      if (oldest !== undefined && workspaces.size >= WORKSPACES_MAX) workspaces.delete(oldest)
      const made = createTexts(options.clock, { ...KEYS, fetch: fetchKeys })
      workspaces.set(id, made)
      return made
    },
  }
}

/** For as long as its issuer says, within bounds: a withdrawn key stays valid that long. */
function keysMs({ headers }: OutboundResponse): number {
  const control = headers['cache-control']
  if (control === undefined) return KEYS_MS.usual
  const seconds = /(?:^|[\s,])max-age="?(\d{1,9})/i.exec(control)?.[1]
  return Math.min(Math.max(Number(seconds ?? 0) * 1_000, KEYS_MS.min), KEYS_MS.max)
}

function fetcher({ outbound, isReadable }: Options, lifetimeMs: (response: OutboundResponse) => number) {
  return async (url: string): Promise<Fetched> => {
    const result = await outbound.request({
      url,
      method: 'GET',
      headers: {},
      body: '',
      timeoutMs: TIMEOUT_MS,
      keptBytesMax: TEXT_BYTES_MAX,
    })
    if (result.kind === 'failure' || result.status >= 500 || result.status === 429 || result.truncated)
      return { found: 'unavailable', forMs: FAILED_MS.unavailable }
    return result.status === 200 && isReadable(result.body)
      ? { found: { text: result.body }, forMs: lifetimeMs(result) }
      : { found: 'invalid', forMs: FAILED_MS.invalid }
  }
}

/**
 * Fetches a text once for all requests that wait for it. A stranger can name any URL of the provider, so concurrent
 * fetches and cached results are limited. Beyond a limit the result is `unavailable`, and the sender tries again.
 */
function createTexts(
  clock: Clock,
  { fetchesMax, entriesMax, fetch }: Limits & { readonly fetch: (url: string) => Promise<Fetched> },
): Texts {
  const cached = new Map<string, Entry>()
  const underWay = new Map<string, Promise<FoundText>>()

  const store = (url: string, { found, forMs }: Fetched): FoundText => {
    const known = cached.get(url)
    cached.delete(url)
    for (const oldest of cached.keys()) {
      if (cached.size < entriesMax) break
      cached.delete(oldest)
    }
    const at = clock.now()
    // A text stays in use while its provider cannot be reached.
    if (typeof found === 'string' && typeof known?.found === 'object' && known.until > at) {
      cached.set(url, { ...known, at })
      return known.found
    }
    cached.set(url, { found, at, until: at + forMs })
    return found
  }

  const fetched = (url: string): FoundText | Promise<FoundText> => {
    const waiting = underWay.get(url)
    if (waiting !== undefined) return waiting
    if (underWay.size >= fetchesMax) return 'unavailable'
    const fetching = fetch(url)
      .then((result) => store(url, result))
      .finally(() => underWay.delete(url))
    underWay.set(url, fetching)
    return fetching
  }

  return {
    at: ({ url, isFresh }) => {
      const known = cached.get(url)
      if (known === undefined) return fetched(url)
      const until = isFresh === true ? known.at + FRESH_MS : known.until
      return until > clock.now() ? known.found : fetched(url)
    },
  }
}
