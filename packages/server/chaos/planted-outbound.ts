import { Resolver as Cares } from 'node:dns/promises'
import {
  createOutboundHttp,
  type OutboundHttp,
  type OutboundOptions,
  type OutboundResponse,
} from '../src/platform/outbound-http.ts'
import type { Resolution, Resolver } from '../src/platform/resolver.ts'

/** Limits the number of concurrent works, first come, first served. The others wait for one of them to end. */
function oneQueue(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let underWay = 0
  return async (work) => {
    if (underWay >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else underWay += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) underWay -= 1
      else next()
    }
  }
}

const REQUESTS = 20

/** All destinations wait in one queue for a few slots, and a hanging destination occupies its slots. */
export function outboundInOneQueue(options: OutboundOptions): OutboundHttp {
  const outbound = createOutboundHttp(options)
  const queued = oneQueue(REQUESTS)
  return { ...outbound, request: (request) => queued(() => outbound.request(request)) }
}

/** As many as libuv's pool has for `dns.lookup`. */
const LOOK_UPS = 4
const PATIENCE_MS = 30_000

/** Resolves names as `dns.lookup` does: a few at a time and without a cache, and a hanging name occupies its slot. */
export function outboundWithFewLookUps(options: OutboundOptions): OutboundHttp {
  const queued = oneQueue(LOOK_UPS)
  const cares = new Cares({ timeout: PATIENCE_MS, tries: 1 })
  cares.setServers([process.env['CHAOS_NAME_SERVER'] ?? '127.0.0.1'])
  const look = async (name: string): Promise<Resolution> => {
    try {
      return { kind: 'addresses', source: 'dns', addresses: await cares.resolve4(name) }
    } catch {
      return { kind: 'failure', detail: 'The host name has no address.' }
    }
  }
  const resolver: Resolver = { resolve: (name) => queued(() => look(name)), close: () => cares.cancel() }
  return createOutboundHttp({ ...options, resolver })
}

const PUBLISHED: OutboundResponse = {
  kind: 'response',
  status: 200,
  headers: {},
  body: JSON.stringify({ messageIds: ['not confirmed'] }),
  truncated: false,
  note: null,
  durationMs: 0,
}

/** An event counts as published as soon as its request to Google Pub/Sub is sent, whatever the response is. */
export function outboundWithoutPubsub(options: OutboundOptions): OutboundHttp {
  const outbound = createOutboundHttp(options)
  return {
    ...outbound,
    request: async (request) => {
      if (!request.url.endsWith(':publish')) return outbound.request(request)
      void outbound.request(request)
      return PUBLISHED
    },
  }
}
