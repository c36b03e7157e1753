import { isIP } from 'node:net'
import { WebSocket } from 'ws'
import type { OutboundReach } from '../outbound-reach.ts'

const HANDSHAKE_MS = 10_000

/** Opens a WebSocket. The client gets the addresses that the guard has checked, and looks nothing up itself. */
export async function openWebSocket(
  reach: OutboundReach,
  { url, headers, maxPayload }: { url: string; headers: Readonly<Record<string, string>>; maxPayload: number },
): Promise<WebSocket> {
  const { hostname, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const addresses = await reach.addressesOf(host, protocol === 'ws:' ? 'http:' : 'https:')
  return new WebSocket(url, {
    headers,
    maxPayload,
    handshakeTimeout: HANDSHAKE_MS,
    followRedirects: false,
    perMessageDeflate: false,
    ...(reach.ca === undefined ? {} : { ca: reach.ca }),
    lookup: (_name, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
  })
}
