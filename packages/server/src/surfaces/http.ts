import type { IncomingMessage, ServerResponse } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** A request handler without Fastify: that of the hot path, and its fallback. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void

const processMark = Math.floor(performance.timeOrigin).toString(36)
let requests = 0

/** A request id, unique across processes and restarts, cheap enough for every request. */
export function newRequestId(): string {
  return `req_${newRequestMark()}`
}

/** The unique part of a request id. */
export function newRequestMark(): string {
  requests += 1
  return `${processMark}${process.pid.toString(36)}${requests.toString(36).padStart(6, '0')}`
}

/**
 * The address of the sender. `X-Forwarded-For` counts only from proxies in `TRUST_PROXY`: the sender is its right-most entry that is
 * not such a proxy.
 */
export function createSourceIp(trusted: readonly string[]): (request: IncomingMessage) => string | undefined {
  const proxies = new BlockList()
  for (const range of trusted) {
    const [address = '', bits] = range.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    proxies.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family)
  }
  const isProxy = (address: string): boolean =>
    isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  return (request) => {
    const peer = unmapped(request.socket.remoteAddress)
    const header = request.headers['x-forwarded-for']
    if (peer === undefined || header === undefined || !isProxy(peer)) return peer
    const hops = String(header)
      .split(',')
      .map((hop) => hop.trim())
    const sender = hops.findLast((hop) => !isProxy(hop)) ?? hops[0]
    return sender !== undefined && isIP(sender) !== 0 ? sender : undefined
  }
}

function unmapped(address: string | undefined): string | undefined {
  return address?.startsWith('::ffff:') === true ? address.slice(7) : address
}
