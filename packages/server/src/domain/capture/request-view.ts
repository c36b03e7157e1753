import { queryMembers } from '@postroad/contract/plain'
import type { RequestView } from '../routing/event-path.ts'
import { maskCredentials } from './mask-credentials.ts'
import { storedQuery } from './request-query.ts'
import { storedHeaders } from './stored-headers.ts'

/** A request as received, with the parts of it that nobody may read. */
export type Received = {
  readonly headers: Readonly<Record<string, string>>
  /** The path and query that were called, as they came. */
  readonly target: string
  /** The credential of its URL. */
  readonly credential: string
  /** The header with the token that proves its sender, in lower case. */
  readonly token: string | undefined
}

/** The parts of a request that its submission stores, masked. Its headers can be JSON. */
export type StoredRequest = {
  readonly headers: Readonly<Record<string, string>> | string
  readonly query: string | null
  readonly path: string | null
}

/** Senders can only post. */
const METHOD = 'POST'

/** The path that was called, with its credential masked. */
export function storedPath(target: string, credential: string): string {
  const mark = target.indexOf('?')
  return maskCredentials(mark < 0 ? target : target.slice(0, mark), credential)
}

/** A request as paths read it. Most events have no such path, so each part is masked when one reads it. */
export function receivedView({ headers, target, credential, token }: Received): RequestView {
  return lazyView({
    path: () => storedPath(target, credential),
    headers: () => readHeaders(storedHeaders(headers, { credential, token })),
    query: () => storedQuery(target, credential),
  })
}

/** A stored request, as paths read it. */
export function storedView({ headers, query, path }: StoredRequest): RequestView {
  return lazyView({
    path: () => path,
    headers: () => (typeof headers === 'string' ? readHeaders(headers) : headers),
    query: () => query,
  })
}

type Parts = {
  readonly path: () => string | null
  readonly headers: () => RequestView['headers']
  readonly query: () => string | null
}

function lazyView(parts: Parts): RequestView {
  let headers: RequestView['headers'] | undefined
  let query: RequestView['query'] | undefined
  return {
    method: METHOD,
    get path() {
      return parts.path()
    },
    get headers() {
      headers ??= parts.headers()
      return headers
    },
    get query() {
      query ??= queryMembers(parts.query())
      return query
    },
  }
}

function readHeaders(text: string): RequestView['headers'] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `storedHeaders` wrote it
  return JSON.parse(text) as RequestView['headers']
}
