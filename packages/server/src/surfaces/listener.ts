import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
// oxlint-disable-next-line house/no-ambient -- sockets need real time, whatever the clock of the server is
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { LIMITS, REASONS, SERVICE_VERSION, type ErrorBody, type Reason } from '@postroad/contract'
import { newRequestId, type Handler } from './http.ts'
import { originForm, reasonOf, validateFraming } from './malformed.ts'

/** The time limits for senders, and the interval of their check, in milliseconds. */
export type Patience = { readonly headersMs: number; readonly requestMs: number; readonly lookMs: number }

const PATIENCE: Patience = { headersMs: 10_000, requestMs: 30_000, lookMs: 1_000 }

/**
 * The listener. It cuts slow senders off: after 10 s for the headers, and after 30 s for the whole request. It refuses a request that
 * could be read in two ways, and closes the connection after the response.
 */
export function createListener(route: Handler, patience: Patience = PATIENCE): Server {
  const lines = new WeakMap<Duplex, Line>()
  const serve: Handler = (request, response) => {
    const line = lineOf(lines, request.socket)
    // Bytes after a refused request on its connection may be a request that a smuggler hid there.
    if (line.broken) return
    enter(server, line, { request, response })
    const why = validateFraming(request)
    line.broken = why !== undefined
    if (why !== undefined) {
      refuse(response, why)
      return
    }
    // Node drops pipelined requests behind an upgrade that nobody accepts.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false
    if (retired.has(server)) response.shouldKeepAlive = false
    request.url = originForm(request.url ?? '/')
    route(request, response)
  }
  const server = createServer(
    {
      maxHeaderSize: LIMITS.headerBytesMax,
      headersTimeout: patience.headersMs,
      requestTimeout: patience.requestMs,
      keepAliveTimeout: 72_000,
      connectionsCheckingInterval: patience.lookMs,
      requireHostHeader: false,
      noDelay: true,
      shouldUpgradeCallback: takesUpgrade,
    },
    serve,
  )
  exchanges.set(server, new Set())
  server.maxHeadersCount = LIMITS.headersMax
  server.on('checkExpectation', serve)
  server.on('clientError', (error, socket) => answerBroken(lineOf(lines, socket), error, socket))
  return server
}

const exchanges = new WeakMap<Server, Set<ServerResponse>>()

/** The requests whose response has not begun. A stream and a long download have begun. */
export function countUnanswered(server: Server): number {
  return [...(exchanges.get(server) ?? [])].filter((response) => !response.headersSent).length
}

const retired = new WeakSet<Server>()
const RETIRED_LOOK_MS = 50

/**
 * Asks the clients to leave before the listener closes: each request from now on is the last one of its connection, and its response
 * says so. The client then opens its next connection to another process. If its connection closed during a request instead, the client
 * would have to send the request again. Waits at most `patienceMs` for all connections to close, because an idle one gets no response.
 */
export async function retire(server: Server, patienceMs: number): Promise<void> {
  retired.add(server)
  // oxlint-disable-next-line house/no-ambient -- as above
  const end = performance.now() + patienceMs
  // oxlint-disable-next-line no-await-in-loop, house/no-ambient -- polls in real time
  while (performance.now() < end && (await countConnections(server)) > 0) await sleep(RETIRED_LOOK_MS)
  // Requests that have arrived by now are read before anything is closed.
  await nextTurn()
  await nextTurn()
}

function countConnections(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.getConnections((_error, count) => resolve(count ?? 0))
  })
}

const isClosed = (server: Server): boolean => !server.listening

const STREAM = /^\/(?:v1|admin\/api(?:\/projects\/[^/?]+)?)\/stream\/?(?:\?|$)/

/** Stream routes accept an upgrade to WebSocket. All other routes ignore an offered upgrade. */
function takesUpgrade(request: IncomingMessage): boolean {
  if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket') return false
  return STREAM.test(request.url ?? '') && validateFraming(request) === undefined
}

/** The state of one connection: pipelined requests are answered in order, and a broken connection is read no further. */
type Line = { open: number; broken: boolean; last: Exchange | undefined }
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse }

function lineOf(lines: WeakMap<Duplex, Line>, socket: Duplex): Line {
  const known = lines.get(socket)
  if (known !== undefined) return known
  const line: Line = { open: 0, broken: false, last: undefined }
  lines.set(socket, line)
  return line
}

function enter(server: Server, line: Line, { request, response }: Exchange): void {
  line.open += 1
  line.last = { request, response }
  const open = exchanges.get(server)?.add(response)
  response.once('close', () => {
    line.open -= 1
    open?.delete(response)
    // After the listener has closed, an open connection would keep the whole process alive.
    if (line.open === 0 && (line.broken || isClosed(server))) request.socket.destroySoon()
  })
}

/** Bytes that are not a request end the connection, with an error response if no other response must come first. */
function answerBroken(line: Line, error: Error, socket: Duplex & { destroySoon?: () => void }): void {
  line.broken = true
  const inside = line.last?.request.complete === false
  if (line.open > (inside ? 1 : 0)) return
  const answered = inside && line.last?.response.headersSent === true
  if (socket.writable && !answered) socket.write(brokenText(reasonOf(error)))
  if (socket.destroySoon === undefined) socket.destroy()
  else socket.destroySoon()
}

function brokenText(reason: Reason): string {
  const { status, text } = REASONS[reason]
  const json = JSON.stringify({ error: text, reason } satisfies ErrorBody)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(json)}`,
    `Request-Id: ${newRequestId()}`,
    // The path that could not be read may have been one of the admin API, whose responses all carry their version.
    `Service-Version: ${SERVICE_VERSION}`,
    'Connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${json}`
}

function refuse(response: ServerResponse, why: string): void {
  const json = JSON.stringify({ error: why, reason: 'malformed_request' } satisfies ErrorBody)
  response.writeHead(REASONS.malformed_request.status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
    'Request-Id': newRequestId(),
    'Service-Version': SERVICE_VERSION,
    Connection: 'close',
  })
  response.end(json)
}
