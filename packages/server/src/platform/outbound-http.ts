/**
 * The one guarded door for outgoing requests: the address that was checked is the address connected to,
 * nothing is followed, everything is bounded, and whatever happens comes back as a value.
 */
// oxlint-disable max-lines -- this file alone may know undici, and each part of it needs undici
import { isIP } from 'node:net'
import type { Socket } from 'node:net'
import { buildConnector, Client } from 'undici'
import type { Dispatcher } from 'undici'
import { createAddressGuard, createCheckedLookup, targetOf, UnreachableError, whyUnreachable } from './address-guard.ts'
import { createResolver } from './resolver.ts'
import type { Resolver } from './resolver.ts'

export type OutboundRequest = {
  readonly url: string
  readonly method?: 'POST' | 'GET' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD'
  /** Sent as they are, names in lower case; custom ones must have passed `whyHeaderRefused`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** From the call to the last byte read, waiting for a connection included; kept to within half a second. */
  readonly timeoutMs: number
  /** Requests, and so sockets, at once to this origin; the rest waits. 10 when absent. */
  readonly maxInFlight?: number
  /** Splits an origin: each lane has sockets and a bound of its own, so that a slow neighbour delays nobody else. */
  readonly lane?: string
  /** Calls the request off; the result is then a `timeout`. */
  readonly signal?: AbortSignal
}

export type OutboundFailureCode =
  | 'timeout' | 'connection_refused' | 'connection_reset' | 'dns_failed' | 'tls_failed'
  | 'blocked_address' | 'response_too_large' | 'invalid_url'

export type OutboundResponse = {
  readonly kind: 'response'
  readonly status: number
  /** At most 100, names in lower case, values of repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** The first 16 KiB as text; what is not UTF-8, and NUL (which no text column takes), reads U+FFFD. */
  readonly body: string
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
  /** Breaks off what is under way; its results, and those of later requests, are failures. */
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

/** Carries one request at a time; `socket` is also set while it is still being made. */
type Connection = {
  readonly lane: Lane
  readonly client: Client
  socket: Socket | undefined
  exchange: Exchange | undefined
  retired: boolean
}

/** Of the idle ones the last is taken first, so that those not needed fall asleep and close. */
type Lane = {
  readonly key: string
  readonly origin: string
  readonly idle: Connection[]
  readonly waiting: Set<Exchange>
  open: number
}

type Settled = (result: OutboundResult, keep: boolean) => void
type Dial = (target: buildConnector.Options, callback: buildConnector.Callback) => Socket | undefined
type Reason = readonly [match: RegExp, code: OutboundFailureCode, detail: string]
type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const READ_BYTES_MAX = 64 * 1024
const KEPT_BYTES_MAX = 16 * 1024
const HEADER_BYTES_MAX = 16 * 1024
const HEADERS_MAX = 100
const INFORMATIONAL_MAX = 20
const IDLE_CONNECTIONS_DEFAULT = 1_000
const TLS_SESSIONS_MAX = 1_000
const IN_FLIGHT_DEFAULT = 10
const CONNECT_MS_DEFAULT = 5_000
const ADDRESS_ATTEMPT_MS = 1_000
const TICK_MS = 250
const CLOSING = 'The server is shutting down.'

/** Servers commonly hang up after 5 idle seconds: leaving earlier keeps us from writing into a closing socket. */
const CLIENT: Client.Options = {
  pipelining: 1,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: HEADER_BYTES_MAX,
  keepAliveTimeout: 4_000,
  keepAliveMaxTimeout: 15_000,
  keepAliveTimeoutThreshold: 1_500,
}

const BROKEN = [/^/, 'connection_reset', 'The connection broke off before the answer was complete.'] as const

/** The first that matches an error's code names it; what none matches is BROKEN. */
const REASONS: readonly Reason[] = [
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'timeout', 'The destination did not accept a connection in time.'],
  [/^ECONNREFUSED$/, 'connection_refused', 'The destination refused the connection.'],
  [/^(EHOST|ENET|EADDRNOTAVAIL|EACCES|EPERM)/, 'connection_refused', 'No route leads to the destination.'],
  [/^(EMFILE|ENFILE|ENOBUFS)$/, 'connection_refused', 'The server has no connection left to open.'],
  [/^CERT_HAS_EXPIRED$/, 'tls_failed', 'The certificate has expired.'],
  [/SELF_SIGNED/, 'tls_failed', 'The certificate is signed by itself or by an unknown authority.'],
  [/ALTNAME|HOSTNAME_MISMATCH/, 'tls_failed', 'The certificate is for another host name.'],
  [/CERT|SIGNATURE|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/, 'tls_failed', 'The certificate cannot be trusted.'],
  [/SSL|TLS|^EPROTO$/, 'tls_failed', 'No TLS connection could be agreed on.'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'response_too_large', 'The headers of the answer are longer than 16 KiB.'],
  [/^UND_ERR_(INVALID_ARG|NOT_SUPPORTED)$/, 'invalid_url', 'The request cannot be written as HTTP.'],
  [/^HPE_/, 'connection_reset', 'The destination did not answer in HTTP.'],
  [/CONTENT_LENGTH/, 'connection_reset', 'The answer is not as long as its Content-Length says.'],
]

/** Names a destination's custom headers may not use; `proxy-`, `service-` and `webhook-` are refused as prefixes. */
export const RESERVED_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'host', 'connection', 'content-length', 'transfer-encoding', 'upgrade', 'keep-alive', 'te', 'trailer', 'expect',
  'content-type', 'user-agent',
])

/**
 * A sentence that says why a destination may not send this custom header, or undefined when it may. Spec 6: neither
 * Postroad's own headers nor the hop-by-hop ones can be overridden; CR, LF, NUL and non-Latin text never leave.
 */
export function whyHeaderRefused(name: string, value: string): string | undefined {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i.test(name)) return 'A header name may hold only letters, digits and hyphens.'
  if (RESERVED_REQUEST_HEADERS.has(lower) || /^(proxy|service|webhook)-/.test(lower)) {
    return `The header ${lower} is set by Postroad and cannot be replaced.`
  }
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return 'A header value may hold only printable Latin characters.'
  return undefined
}

/**
 * Opens the door; `allow` is OUTBOUND_ALLOW. `request` never throws and never rejects, and a 3xx is a response.
 * 64 KiB of a response are read and 16 KiB kept; a longer one is cut off there, counts, and is `truncated`.
 * One that breaks off, or trickles past the deadline, is a failure whatever its status was.
 */
export function createOutboundHttp(options: OutboundOptions): OutboundHttp {
  const { resolver = createResolver(), idleConnectionsMax = IDLE_CONNECTIONS_DEFAULT } = options
  const lanes = new Lanes(createDial(options, resolver), idleConnectionsMax)
  const underWay = new Set<Exchange>()
  let closed = false
  // One coarse timer for all deadlines: a timer for each request would cost more than the rest of its bookkeeping.
  const timer = setInterval(() => {
    const now = performance.now()
    for (const exchange of underWay) if (exchange.deadlineAt <= now) exchange.expire()
  }, TICK_MS).unref()

  function request(asked: OutboundRequest): Promise<OutboundResult> {
    const { promise, resolve } = Promise.withResolvers<OutboundResult>()
    const { method = 'POST', body, signal } = asked
    const callOff = (): void => exchange.fail('timeout', 'The request was called off before an answer came.')
    const exchange = new Exchange(asked, (result, keep) => {
      underWay.delete(exchange)
      signal?.removeEventListener('abort', callOff)
      lanes.leave(exchange, keep)
      resolve(result)
    })
    const target = targetOf(asked.url)
    if (typeof target === 'string') exchange.fail('invalid_url', target)
    else if (signal?.aborted === true) callOff()
    else if (closed) exchange.fail('connection_reset', CLOSING)
    else {
      const { userAgent } = options
      const headers = userAgent === undefined ? asked.headers : { 'user-agent': userAgent, ...asked.headers }
      exchange.dispatched = { path: target.path, method, headers, body }
      underWay.add(exchange)
      signal?.addEventListener('abort', callOff)
      lanes.enter(exchange, target.origin, asked.lane ?? '')
    }
    return promise
  }

  async function close(): Promise<void> {
    closed = true
    clearInterval(timer)
    for (const exchange of underWay) exchange.fail('connection_reset', CLOSING)
    if (options.resolver === undefined) resolver.close()
    await lanes.close()
  }

  return { request, close, stats: () => ({ ...lanes.stats(), inFlight: underWay.size }) }
}

/** One request from the call to its result, whatever comes first; later news of it is ignored. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly inFlightMax: number
  readonly deadlineAt: number
  dispatched: Dispatcher.DispatchOptions = { path: '/', method: 'POST' }
  connection: Connection | undefined
  lane: Lane | undefined
  readonly #startedAt = performance.now()
  readonly #onSettled: Settled
  #settled = false
  #sent = false
  #informational = 0
  #status = 0
  #headers: Record<string, string> = {}
  #body: Buffer = Buffer.alloc(0)
  #bytes = 0

  constructor(asked: OutboundRequest, onSettled: Settled) {
    this.inFlightMax = asked.maxInFlight ?? IN_FLIGHT_DEFAULT
    this.deadlineAt = this.#startedAt + asked.timeoutMs
    this.#onSettled = onSettled
  }

  onRequestStart(): void {
    this.#sent = true
  }

  onResponseStart(_controller: unknown, status: number, headers: AnswerHeaders): void {
    if (status >= 200) {
      this.#status = status
      this.#headers = boundedHeaders(headers)
    } else if (++this.#informational > INFORMATIONAL_MAX) {
      this.fail('response_too_large', 'The destination sent interim answers without end.')
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#bytes === 0) this.#body = chunk
    else if (this.#bytes < KEPT_BYTES_MAX) this.#append(chunk)
    this.#bytes += chunk.length
    if (this.#bytes > READ_BYTES_MAX) this.#respond(false)
  }

  onResponseEnd(): void {
    this.#respond(true)
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.fail(...reasonOf(error))
  }

  fail(code: OutboundFailureCode, detail: string): void {
    this.#settle({ kind: 'failure', code, detail, durationMs: this.#elapsedMs() }, false)
  }

  expire(): void {
    if (this.connection === undefined) this.fail('timeout', 'No connection to the destination was free in time.')
    else if (!this.#sent) this.fail('timeout', 'The destination did not accept a connection in time.')
    else if (this.#status === 0) this.fail('timeout', 'The destination did not answer in time.')
    else this.fail('timeout', 'The answer was not complete in time.')
  }

  /** Most bodies are one chunk, kept as it came; a second one moves them into a buffer of the greatest size. */
  #append(chunk: Buffer): void {
    if (this.#body.length < KEPT_BYTES_MAX) {
      const buffer = Buffer.alloc(KEPT_BYTES_MAX)
      this.#body.copy(buffer)
      this.#body = buffer
    }
    chunk.copy(this.#body, this.#bytes)
  }

  #respond(keep: boolean): void {
    const truncated = this.#bytes > KEPT_BYTES_MAX
    const body = textOf(this.#body.subarray(0, Math.min(this.#bytes, KEPT_BYTES_MAX)), truncated)
    const durationMs = this.#elapsedMs()
    this.#settle({ kind: 'response', status: this.#status, headers: this.#headers, body, truncated, durationMs }, keep)
  }

  #elapsedMs(): number {
    return Math.round(performance.now() - this.#startedAt)
  }

  #settle(result: OutboundResult, keep: boolean): void {
    if (this.#settled) return
    this.#settled = true
    this.#onSettled(result, keep)
  }
}

/** Connections by lane: each carries one request at a time and stays while idle; a lane goes with its last one. */
class Lanes {
  readonly #dial: Dial
  readonly #idleMax: number
  readonly #lanes = new Map<string, Lane>()
  readonly #connections = new Set<Connection>()
  /** In the order they fell idle, over all lanes. */
  readonly #idle = new Set<Connection>()

  constructor(dial: Dial, idleMax: number) {
    this.#dial = dial
    this.#idleMax = idleMax
  }

  enter(exchange: Exchange, origin: string, name: string): void {
    const key = `${origin} ${name}`
    const lane = this.#lanes.get(key) ?? { key, origin, idle: [], waiting: new Set(), open: 0 }
    this.#lanes.set(key, lane)
    exchange.lane = lane
    lane.waiting.add(exchange)
    this.#advance(lane)
  }

  /** `keep` is for a connection whose answer was read to its end. */
  leave(exchange: Exchange, keep: boolean): void {
    const { lane, connection } = exchange
    lane?.waiting.delete(exchange)
    if (lane === undefined || connection === undefined) return
    if (!keep) return this.#retire(connection)
    this.#rest(connection)
    this.#advance(lane)
  }

  async close(): Promise<void> {
    const clients = [...this.#connections].map(({ client }) => client)
    for (const connection of this.#connections) this.#retire(connection)
    await Promise.all(clients.map((client) => client.destroy()))
  }

  stats(): Omit<OutboundStats, 'inFlight'> {
    return { lanes: this.#lanes.size, connections: this.#connections.size, idle: this.#idle.size }
  }

  #advance(lane: Lane): void {
    for (const exchange of lane.waiting) {
      if (lane.open - lane.idle.length >= exchange.inFlightMax) break
      lane.waiting.delete(exchange)
      const connection = lane.idle.pop() ?? this.#open(lane)
      this.#idle.delete(connection)
      connection.exchange = exchange
      exchange.connection = connection
      connection.client.dispatch(exchange.dispatched, exchange)
    }
    if (lane.open === 0 && lane.waiting.size === 0 && this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key)
  }

  #open(lane: Lane): Connection {
    const client = new Client(lane.origin, {
      ...CLIENT,
      connect: (target, callback) => {
        connection.socket = this.#dial(target, callback)
      },
    })
    const connection: Connection = { lane, client, socket: undefined, exchange: undefined, retired: false }
    client.on('disconnect', () => {
      if (connection.exchange === undefined) this.#retire(connection)
    })
    lane.open += 1
    this.#connections.add(connection)
    return connection
  }

  #rest(connection: Connection): void {
    connection.exchange = undefined
    connection.lane.idle.push(connection)
    this.#idle.add(connection)
    const [longest] = this.#idle
    if (this.#idle.size > this.#idleMax && longest !== undefined) this.#retire(longest)
  }

  /** Ends a connection, also one that is still being made, and gives its place to the next request. */
  #retire(connection: Connection): void {
    if (connection.retired) return
    const { lane, client, socket } = connection
    connection.retired = true
    if (this.#idle.delete(connection)) lane.idle.splice(lane.idle.indexOf(connection), 1)
    lane.open -= 1
    this.#connections.delete(connection)
    client.destroy(null, () => undefined)
    socket?.destroy()
    queueMicrotask(() => this.#advance(lane))
  }
}

/** Makes the sockets. A name is looked up and checked in one step; a literal never is, so it is checked here. */
function createDial(options: OutboundOptions, resolver: Resolver): Dial {
  const guard = createAddressGuard(options)
  const connectorFor = (protocol: string): buildConnector.connector =>
    buildConnector({
      lookup: createCheckedLookup(guard, resolver, protocol),
      timeout: options.connectMs ?? CONNECT_MS_DEFAULT,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      allowH2: false,
      rejectUnauthorized: true,
      maxCachedSessions: TLS_SESSIONS_MAX,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    })
  const [plain, secure] = [connectorFor('http:'), connectorFor('https:')]

  return (target, callback) => {
    const { hostname, protocol } = target
    const refusal = isIP(hostname) === 0 ? undefined : whyUnreachable(guard, hostname, protocol)
    if (refusal !== undefined) {
      process.nextTick(callback, new UnreachableError('blocked_address', refusal), null)
      return undefined
    }
    const dial = protocol === 'https:' ? secure : plain
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undici returns its socket, its type hides that
    return dial(target, callback) as unknown as Socket
  }
}

function reasonOf(error: Error): [OutboundFailureCode, string] {
  if (error instanceof UnreachableError) return [error.code, error.message]
  const errorCode = 'code' in error ? String(error.code) : ''
  const [, code, detail] = REASONS.find(([match]) => match.test(errorCode)) ?? BROKEN
  return [code, detail]
}

function boundedHeaders(headers: AnswerHeaders): Record<string, string> {
  const kept = Object.entries(headers).slice(0, HEADERS_MAX)
  return Object.fromEntries(kept.map(([name, value = '']) => [name, [value].flat().join(', ')]))
}

/** Bytes as text; a character cut in half by the limit is left out. */
function textOf(bytes: Buffer, cut: boolean): string {
  const text = cut ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }) : bytes.toString()
  return text.replaceAll('\0', '\ufffd')
}
