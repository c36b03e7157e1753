import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import { openGuarded, type Peer } from '../guarded/open.ts'
import type { OutboundReach } from '../outbound-reach.ts'

const HANDSHAKE_MS = 10_000
/** A server has this long to answer the end of a connection. */
const ENDING = { closeTimeout: 1_000 }

type Asked = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly maxPayload: number
  readonly signal: AbortSignal
}

/**
 * Opens a WebSocket over a guarded socket. The client limits its frames, fragments and messages. The signal destroys the
 * connection, even while it is being made.
 */
export async function openWebSocket(
  reach: OutboundReach,
  { url, headers, maxPayload, signal }: Asked,
): Promise<WebSocket> {
  const { WebSocket: Client } = await import('ws')
  const { hostname, port, protocol } = new URL(url)
  const isEncrypted = protocol !== 'ws:'
  const open = reach.hasProxyFor(url) ? openByProxy : openGuarded
  const socket = await open(reach, {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (isEncrypted ? 443 : 80)),
    isEncrypted,
    opening: 'tls',
    tls: null,
    unitBytesMax: Infinity,
    answerBytesMax: Infinity,
    signal,
  })
  return new Client(url, {
    headers,
    maxPayload,
    handshakeTimeout: HANDSHAKE_MS,
    ...ENDING,
    followRedirects: false,
    perMessageDeflate: false,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the client uses it as a stream
    createConnection: () => socket as unknown as Socket,
  })
}

/** A tunnel through the proxy, which encrypts and has a deadline already. */
async function openByProxy(
  { dial }: OutboundReach,
  { host, port, isEncrypted, signal }: Peer & { readonly signal: AbortSignal },
): Promise<Socket> {
  signal.throwIfAborted()
  const protocol = isEncrypted ? 'https:' : 'http:'
  const socket = await new Promise<Socket>((resolve, reject) => {
    const dialed = dial({ hostname: host, host, port: String(port), protocol }, (error, opened) =>
      error === null ? resolve(opened) : reject(error),
    )
    signal.addEventListener('abort', () => dialed?.destroy())
  })
  signal.addEventListener('abort', () => void socket.destroy())
  signal.throwIfAborted()
  return socket
}
