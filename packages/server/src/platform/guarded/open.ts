import { connect, isIP, type Socket } from 'node:net'
import { LIMITS } from '@postroad/contract'
import type { OutboundReach } from '../outbound-reach.ts'
import type { TransportTls } from '../outbound/request.ts'
import { GuardedSocket, secured, type Budget } from './guarded-socket.ts'
import { beforeTls, type Opening } from './opening.ts'
import { tlsOptions } from './tls.ts'

/** The server to connect to. */
export type Peer = {
  readonly host: string
  readonly port: number
  /** Encrypted by someone: here, or later by the driver. The guard allows plain text only to addresses that the operator has listed. */
  readonly isEncrypted: boolean
  readonly tls: TransportTls | null
  /** How the connection becomes encrypted; null: the driver does it. */
  readonly opening: Opening | null
}

const ADDRESS_ATTEMPT_MS = 1_000

/**
 * Connects to an address of the host that passed the guard, encrypts the connection, and limits what it reads. Rejects with the
 * error of the look-up, the connection or TLS. The signal destroys the socket, now or later.
 */
export async function openGuarded(
  reach: OutboundReach,
  { signal, ...peer }: Peer & Budget & { readonly signal: AbortSignal },
): Promise<GuardedSocket> {
  const { host, isEncrypted, opening } = peer
  const addresses = await reach.addressesOf(host, isEncrypted ? 'https:' : 'http:')
  signal.throwIfAborted()
  const socket = connect({
    host,
    port: peer.port,
    noDelay: true,
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    lookup: (_name, _options, found) =>
      found(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
  })
  const give = (): void => void socket.destroy()
  signal.addEventListener('abort', give)
  socket.once('close', () => signal.removeEventListener('abort', give))
  try {
    return await inTime(async () => {
      await connected(socket)
      if (!isEncrypted || opening === null) return new GuardedSocket(socket, peer)
      const first = await beforeTls(socket, opening)
      return new GuardedSocket(await secured(socket, tlsOptions(peer, reach.ca)), { ...peer, first })
    })
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function connected(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('The connection was closed.')))
    socket.once('connect', () => resolve())
  })
}

/** The connection and its encryption have one deadline. */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = Object.assign(new Error('The connection took too long.'), { code: 'ETIMEDOUT' })
  const timer = setTimeout(() => reject(late), LIMITS.deliveryConnectMs)
  try {
    return await Promise.race([work(), promise])
  } finally {
    clearTimeout(timer)
  }
}
