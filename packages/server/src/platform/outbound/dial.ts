import { isIP, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import { createAddressGuard, createCheckedLookup, UnreachableError, whyUnreachable } from '../address-guard.ts'
import type { Resolver } from '../resolver.ts'
import type { OutboundOptions } from './request.ts'

export type Dial = (target: buildConnector.Options, callback: buildConnector.Callback) => Socket | undefined

const TLS_SESSIONS_MAX = 1_000
const CONNECT_MS_DEFAULT = 5_000
const ADDRESS_ATTEMPT_MS = 1_000

/** Makes the sockets. A name is looked up and checked in one step; a literal never is, so it is checked here. */
export function createDial(options: OutboundOptions, resolver: Resolver): Dial {
  const guard = createAddressGuard(options)
  const connectorFor = (protocol: string): buildConnector.connector =>
    buildConnector({
      lookup: createCheckedLookup(guard, resolver, protocol),
      timeout: options.connectMs ?? CONNECT_MS_DEFAULT,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      allowH2: false,
      rejectUnauthorized: true,
      maxCachedSessions: TLS_SESSIONS_MAX,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    })
  const [plain, secure] = [connectorFor('http:'), connectorFor('https:')]

  return (target, callback) => {
    const { hostname, protocol } = target
    const refusal = isIP(hostname) === 0 ? undefined : whyUnreachable(guard, hostname, protocol)
    if (refusal !== undefined) {
      process.nextTick(callback, new UnreachableError('blocked_address', refusal), null)
      return undefined
    }
    const dial = protocol === 'https:' ? secure : plain
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undici returns its socket, its type hides that
    return dial(target, callback) as unknown as Socket
  }
}
