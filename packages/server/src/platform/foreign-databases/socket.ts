import { connect, type Socket } from 'node:net'
import { checkServerIdentity, getCACertificates, type ConnectionOptions } from 'node:tls'
import { LIMITS } from '@postroad/contract'
import { UnreachableError } from '../address-guard.ts'
import { ForeignFailure } from '../foreign-failure.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import type { DatabasePlace } from './types.ts'

/** A connected socket to an address of the host that passed the guard. The driver gets the socket, so it resolves nothing. */
export async function openSocket(
  reach: OutboundReach,
  { host, port, tls }: Pick<DatabasePlace, 'host' | 'port'> & { readonly tls: Pick<DatabasePlace['tls'], 'mode'> },
): Promise<Socket> {
  const addresses = await reach
    .addressesOf(host, tls.mode === 'off' ? 'http:' : 'https:')
    .catch((error: unknown): never => {
      if (error instanceof UnreachableError) throw new ForeignFailure(error.code, plainText(error.message))
      throw error
    })
  let last: unknown
  for (const address of addresses) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one address after another
      return await connected(address, port)
    } catch (error) {
      last = error
    }
  }
  const code = last instanceof Error && 'code' in last ? String(last.code) : ''
  throw new ForeignFailure(
    code === 'ECONNREFUSED' ? 'connection_refused' : 'timeout',
    code === 'ECONNREFUSED'
      ? `Nothing accepts connections on port ${port} of the host. Check the address, and that the database runs.`
      : 'The host did not accept a connection in time. Check the address and the firewall.',
  )
}

/** The guard knows only http and https. */
const plainText = (sentence: string): string =>
  sentence.replace(
    'Plain http is not allowed to this address; use https.',
    'An unencrypted connection is not allowed to this address; set tls.mode to "verify".',
  )

function connected(address: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port })
    socket.setTimeout(LIMITS.deliveryConnectMs, () => socket.destroy(new Error('timeout')))
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.setTimeout(0)
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** The driver connects its stream itself. This one is connected to the address that the guard has checked. */
export function alreadyConnected(socket: Socket): Socket {
  return Object.assign(socket, {
    connect: () => {
      process.nextTick(() => socket.emit('connect'))
      return socket
    },
  })
}

/** TLS with the name of the host, whatever address the socket has. */
export function tlsOf(reach: OutboundReach, { host, tls }: DatabasePlace): ConnectionOptions {
  const authorities = reach.ca === undefined ? getCACertificates('default') : [reach.ca]
  return {
    rejectUnauthorized: true,
    servername: /[a-z]/i.test(host) && !host.includes(':') ? host : '',
    ca: tls.ca === null ? authorities : [...authorities, tls.ca],
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  }
}
