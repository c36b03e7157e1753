import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { buildConnector } from 'undici'
import { UnreachableError } from '../address-guard.ts'
import type { Broken, Dial } from './dial-type.ts'
import { reasonOf } from './failure.ts'
import type { TransportProxy } from './request.ts'

type Tunnel = {
  readonly proxy: TransportProxy
  readonly connectMs: number
  /** Resolves and checks a host. Rejects when a request may not go there. */
  readonly addressesOf: (hostname: string, protocol: string) => Promise<readonly string[]>
  /** Connects to the proxy. The protocol of the destination decides which check the proxy's address must pass. */
  readonly dialProxyFor: (protocol: string) => Dial
  /** Encrypts the connection to the destination. */
  readonly secure: Dial
}

const HEAD_BYTES_MAX = 16 * 1024

/**
 * Connections through a forward proxy. The guard still applies: the proxy's own address is checked when it is dialed,
 * and the destination is resolved and checked here. CONNECT then names that address, never the host, so that the proxy
 * resolves nothing. TLS to the destination still requires a certificate for the host's name.
 */
export function createTunnel(tunnel: Tunnel): Dial {
  const { addressesOf, connectMs, proxy } = tunnel
  return (target, callback) => {
    const underWay = new Way(callback)
    const opened = async (): Promise<void> => {
      const [address = ''] = await addressesOf(target.hostname, target.protocol)
      const port = target.port === '' ? (target.protocol === 'https:' ? '443' : '80') : target.port
      const authority = `${isIP(address) === 6 ? `[${address}]` : address}:${port}`
      if (underWay.ended) return
      const asked = ask(tunnel, { authority, protocol: target.protocol, underWay })
      asked.setTimeout(connectMs, () =>
        asked.destroy(new UnreachableError('proxy_failed', 'The proxy did not respond in time.')),
      )
      asked.on('error', (error) => underWay.fail(proxyError(error)))
      asked.on('connect', (answer: IncomingMessage, socket: Duplex) =>
        carry(tunnel, { answer, socket, target, underWay }),
      )
      asked.end()
    }
    opened().catch((error: Error) => underWay.fail(error))
    return underWay
  }

  function ask({ dialProxyFor }: Tunnel, of: { authority: string; protocol: string; underWay: Way }): ClientRequest {
    const { hostname, host, port, protocol } = new URL(proxy.url)
    const to = { hostname: hostname.replace(/^\[|\]$/g, ''), host, port, protocol }
    return httpRequest({
      method: 'CONNECT',
      path: of.authority,
      headers: {
        host: of.authority,
        ...(proxy.authorization === undefined ? {} : { 'proxy-authorization': proxy.authorization }),
      },
      maxHeaderSize: HEAD_BYTES_MAX,
      createConnection: (_options, connected) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- node's type wants a socket even with an error
        const done = connected as (error: Error | null, socket?: Duplex) => void
        of.underWay.holds(
          dialProxyFor(of.protocol)(to, (error, socket) => (error === null ? done(null, socket) : done(error))),
        )
        return undefined
      },
    })
  }
}

/** A connection that is being made. It ends once, with a socket or an error, and can be destroyed at each step. */
class Way implements Broken {
  readonly #callback: buildConnector.Callback
  #held: Broken | undefined
  ended = false

  constructor(callback: buildConnector.Callback) {
    this.#callback = callback
  }

  holds(held: Broken | undefined): void {
    this.#held = held
    if (this.ended) this.destroy()
  }

  fail(error: Error): void {
    if (this.ended) return
    this.destroy()
    this.#callback(error, null)
  }

  give(...given: Parameters<buildConnector.Callback>): void {
    if (this.ended) return
    this.ended = true
    this.#callback(...given)
  }

  destroy(): void {
    this.ended = true
    this.#held?.destroy()
  }
}

function carry(
  { secure }: Tunnel,
  of: { answer: IncomingMessage; socket: Duplex; target: buildConnector.Options; underWay: Way },
): void {
  const { answer, target, underWay } = of
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- exactly the socket that was dialed
  const socket = of.socket as Socket
  const status = answer.statusCode ?? 0
  if (status < 200 || status > 299) return underWay.fail(new UnreachableError('proxy_failed', describeStatus(status)))
  socket.setTimeout(0)
  if (target.protocol !== 'https:') return underWay.give(null, socket)
  secure({ ...target, httpSocket: socket }, (...given) =>
    given[0] === null ? underWay.give(...given) : underWay.fail(given[0]),
  )
}

function describeStatus(status: number): string {
  if (status === 407) return 'The proxy refused the username and password (407).'
  if (status === 403) return 'The proxy does not allow connections to the destination (403).'
  return `The proxy could not connect to the destination (${status}).`
}

/** The same sentences as for a host, but about the proxy. */
function proxyError(error: Error): Error {
  if (error instanceof UnreachableError)
    return error.code === 'proxy_failed'
      ? error
      : new UnreachableError(error.code, `The proxy cannot be used. ${error.message}`)
  const [code, detail] = reasonOf(error)
  if (code === 'connection_reset')
    return new UnreachableError('proxy_failed', 'The proxy closed the connection before it reached the destination.')
  return new UnreachableError('proxy_failed', detail.replace(/(the) host\b/i, '$1 proxy'))
}
