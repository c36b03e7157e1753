/**
 * The only client for outgoing requests. It connects to exactly the address that it checked, follows no redirect, limits
 * everything, and returns every outcome as a value.
 */
import { withQuery } from '@postroad/contract/sent-again'
import { targetOf } from './address-guard.ts'
import { createDialOf } from './outbound/dial.ts'
import { Exchange } from './outbound/exchange.ts'
import { Lanes } from './outbound/lanes.ts'
import type { OutboundHttp, OutboundOptions, OutboundRequest, OutboundResult } from './outbound/request.ts'
import { createResolver } from './resolver.ts'

export { RESERVED_REQUEST_HEADERS, validateHeader } from './outbound/headers.ts'
export type * from './outbound/request.ts'
export { transportOf } from './outbound/transport.ts'

const IDLE_CONNECTIONS_DEFAULT = 1_000
const TICK_MS = 250
const DELETED = 'The destination was deleted.'
const CLOSING = 'The server is shutting down.'

/**
 * Opens the client; `allow` is OUTBOUND_ALLOW. `request` never throws and never rejects, and a 3xx is a response.
 * It reads 64 KiB of a response and returns 16 KiB. A longer response is cut off there, still counts as a response, and is
 * `truncated`. The same goes for one that breaks off or trickles past the deadline, because its head is the receiver's answer.
 */
export function createOutboundHttp(options: OutboundOptions): OutboundHttp {
  const { resolver = createResolver(), idleConnectionsMax = IDLE_CONNECTIONS_DEFAULT } = options
  const lanes = new Lanes(createDialOf(options, resolver), idleConnectionsMax)
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
    const callOff = (): void => exchange.fail('timeout', 'The request was canceled before a response arrived.')
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
      exchange.dispatched = { path: withQuery(target.path, asked.query ?? ''), method, headers, body }
      underWay.add(exchange)
      signal?.addEventListener('abort', callOff)
      lanes.enter(exchange, target.origin, asked.transport)
    }
    return promise
  }

  function cut(names: readonly string[]): void {
    for (const exchange of underWay) if (names.includes(exchange.lane)) exchange.fail('connection_reset', DELETED)
    lanes.cut(names)
  }

  async function close(): Promise<void> {
    closed = true
    clearInterval(timer)
    for (const exchange of underWay) exchange.fail('connection_reset', CLOSING)
    if (options.resolver === undefined) resolver.close()
    await lanes.close()
  }

  return { request, cut, close, stats: () => ({ ...lanes.stats(), inFlight: underWay.size }) }
}
