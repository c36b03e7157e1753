import type { Resolver } from '../resolver.ts'

export type OutboundRequest = {
  readonly url: string
  /** Sent unchanged after the query string of the URL. */
  readonly query?: string
  readonly method?: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  /** Sent unchanged, names in lower case. Custom headers must have passed `validateHeader`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /**
   * From the call to the last byte, including the wait for a connection; accurate to half a second. A body that has not ended
   * by then is cut off. Without a complete head it is a `timeout`.
   */
  readonly timeoutMs: number
  /** The maximum of concurrent requests, and so of sockets, to this origin; the others wait. Defaults to 10. */
  readonly maxInFlight?: number
  /** How much of the body the result contains, up to 64 KiB. Defaults to 16 KiB. */
  readonly keptBytesMax?: number
  /** `latin1`: each byte of the body is one character, for an answer that is not text. */
  readonly bodyAs?: 'text' | 'latin1'
  /** Splits an origin: each lane has its own sockets and its own limit, so that a slow lane does not delay the others. */
  readonly lane?: string
  /** Absent: directly to the origin, over TLS with the public authorities. */
  readonly transport?: Transport | undefined
  /** Cancels the request. The result is then a `timeout`, or the part of the answer that had arrived. */
  readonly signal?: AbortSignal
}

/** A connection method other than the default; made by `transportOf`. Its fields are secret. */
export type Transport = {
  /** Requests with the same key may share connections. The key reveals nothing about the other fields. */
  readonly key: string
  readonly tls: TransportTls | null
  readonly proxy: TransportProxy | null
}
/** PEM. `ca` is trusted in addition to the public authorities. */
export type TransportTls = {
  readonly certificate?: string | undefined
  readonly private_key?: string | undefined
  readonly ca?: string | undefined
}
/** A forward proxy, used with HTTP CONNECT. `authorization` is the value of Proxy-Authorization. */
export type TransportProxy = {
  readonly url: string
  readonly authorization?: string | undefined
  /** The operator named it, so it may have any address. */
  readonly isOfOperator?: boolean
}

export type OutboundFailureCode =
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'dns_failed'
  | 'tls_failed'
  | 'blocked_address'
  | 'response_too_large'
  | 'invalid_url'
  | 'proxy_failed'

export type OutboundResponse = {
  readonly kind: 'response'
  readonly status: number
  /** At most 100 and 16 KiB, names in lower case, values of repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The first 16 KiB, or `keptBytesMax`, as text, after its content coding and in its charset. Bytes that the charset does not
   * have, and NUL (which no text column accepts), become U+FFFD.
   */
  readonly body: string
  /** The body is incomplete: it was longer, broke off, or did not end in time. */
  readonly truncated: boolean
  /** A sentence about a head that was not stored whole. */
  readonly note: string | null
  readonly durationMs: number
}

export type OutboundFailure = {
  readonly kind: 'failure'
  readonly code: OutboundFailureCode
  /** One sentence for the destination's owner. Contains no address, path or header. */
  readonly detail: string
  readonly durationMs: number
}

export type OutboundResult = OutboundResponse | OutboundFailure

export type OutboundHttp = {
  readonly request: (request: OutboundRequest) => Promise<OutboundResult>
  /** Ends the requests and connections of these lanes. */
  readonly cut: (lanes: readonly string[]) => void
  /** Ends all requests under way: those without an answer yet, and every later request, fail. */
  readonly close: () => Promise<void>
  readonly stats: () => OutboundStats
}

export type OutboundStats = {
  readonly lanes: number
  readonly connections: number
  readonly idle: number
  /** Requests without an answer, including those that wait for a connection. */
  readonly inFlight: number
}

export type OutboundOptions = {
  readonly allow: readonly string[]
  /** The setting with these ranges, as refusals name it. Defaults to OUTBOUND_ALLOW. */
  readonly setting?: string
  readonly resolver?: Resolver
  /** The limit for the DNS lookup, TCP and TLS together. Defaults to 5 s. */
  readonly connectMs?: number
  readonly userAgent?: string
  /** The maximum of idle connections over all lanes. Defaults to 1,000. */
  readonly idleConnectionsMax?: number
  /** Certificate authorities instead of the system's, for tests. */
  readonly ca?: string
}
