import type { Resolver } from '../resolver.ts'

export type OutboundRequest = {
  readonly url: string
  readonly method?: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  /** Sent as they are, names in lower case; custom ones must have passed `whyHeaderRefused`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /**
   * From the call to the last byte read, waiting for a connection included; kept to within half a second. A body that has
   * not ended by then is cut off; without a complete head it is a `timeout`.
   */
  readonly timeoutMs: number
  /** Requests, and so sockets, at once to this origin; the rest waits. 10 when absent. */
  readonly maxInFlight?: number
  /** Splits an origin: each lane has sockets and a bound of its own, so that a slow neighbour delays nobody else. */
  readonly lane?: string
  /** Absent: straight to the origin, over TLS as everybody trusts it. */
  readonly transport?: Transport | undefined
  /** Calls the request off; the result is then a `timeout`, or what was answered by then. */
  readonly signal?: AbortSignal
}

/** How a connection is made when not in the ordinary way; made by `transportOf`. Its fields are secret. */
export type Transport = {
  /** Requests of the same key may share connections; it tells nothing of the rest. */
  readonly key: string
  readonly tls: TransportTls | null
  readonly proxy: TransportProxy | null
}
/** PEM. `ca` is trusted beside the public authorities. */
export type TransportTls = {
  readonly certificate?: string | undefined
  readonly private_key?: string | undefined
  readonly ca?: string | undefined
}
/** A forward proxy, asked by HTTP CONNECT; `authorization` is the value of Proxy-Authorization. */
export type TransportProxy = { readonly url: string; readonly authorization?: string | undefined }

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
  /** At most 100, names in lower case, values of repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 16 KiB as text; what is not UTF-8, and NUL (which no text column takes), reads U+FFFD. */
  readonly body: string
  /** The body is not all that was sent: it was longer, broke off, or did not end in time. */
  readonly truncated: boolean
  readonly durationMs: number
}

export type OutboundFailure = {
  readonly kind: 'failure'
  readonly code: OutboundFailureCode
  /** One sentence for the destination's owner; holds no address, path or header. */
  readonly detail: string
  readonly durationMs: number
}

export type OutboundResult = OutboundResponse | OutboundFailure

export type OutboundHttp = {
  readonly request: (request: OutboundRequest) => Promise<OutboundResult>
  /** Breaks off what is under way: what has no answer yet, and every later request, is a failure. */
  readonly close: () => Promise<void>
  readonly stats: () => OutboundStats
}

export type OutboundStats = {
  readonly lanes: number
  readonly connections: number
  readonly idle: number
  /** Asked for and not answered, those waiting for a connection included. */
  readonly inFlight: number
}

export type OutboundOptions = {
  readonly allow: readonly string[]
  readonly resolver?: Resolver
  /** For looking the name up, TCP and TLS together; 5 s when absent. */
  readonly connectMs?: number
  readonly userAgent?: string
  /** Idle connections kept over all lanes; 1,000 when absent. */
  readonly idleConnectionsMax?: number
  /** Certificate authorities instead of the system's, for tests. */
  readonly ca?: string
}
