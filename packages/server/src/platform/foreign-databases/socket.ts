import { UnreachableError } from '../address-guard.ts'
import { ForeignFailure } from '../foreign-failure.ts'
import type { Budget, GuardedSocket } from '../guarded/guarded-socket.ts'
import { openGuarded, type Peer } from '../guarded/open.ts'
import type { OutboundReach } from '../outbound-reach.ts'
import type { DatabasePlace } from './types.ts'

export const LOGIN_BYTES_MAX = 1_048_576

type At = Budget &
  Pick<Peer, 'opening'> & {
    readonly reach: OutboundReach
    readonly place: DatabasePlace
    readonly signal: AbortSignal
  }

/** A guarded socket to the database. The driver gets the socket, so it resolves nothing. */
export async function openSocket({ reach, place, ...of }: At): Promise<GuardedSocket> {
  try {
    return await openGuarded(reach, { ...of, ...peerOf(place) })
  } catch (error) {
    throw explained(error, place)
  }
}

export const peerOf = ({ host, port, tls }: DatabasePlace): Omit<Peer, 'opening'> => ({
  host,
  port,
  isEncrypted: tls.mode !== 'off',
  tls: tls.ca === null ? null : { ca: tls.ca },
})

function explained(error: unknown, { port }: DatabasePlace): unknown {
  if (error instanceof UnreachableError) return new ForeignFailure(error.code, plainText(error.message))
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ECONNREFUSED')
    return new ForeignFailure(
      'connection_refused',
      `Nothing accepts connections on port ${port} of the host. Check the address, and that the database runs.`,
    )
  if (/^(ETIMEDOUT|EHOST|ENET|EADDRNOTAVAIL|EACCES|EPERM)/.test(code))
    return new ForeignFailure(
      'timeout',
      'The host did not accept a connection in time. Check the address and the firewall.',
    )
  return error
}

/** The guard knows only http and https. */
const plainText = (sentence: string): string =>
  sentence.replace(
    'Plain http is not allowed to this address; use https.',
    'An unencrypted connection is not allowed to this address; set tls.mode to "verify".',
  )
