import { isIP } from 'node:net'
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import {
  createAddressGuard,
  createCheckedAddresses,
  createCheckedLookup,
  UnreachableError,
  validateAddress,
  type AddressGuard,
} from '../address-guard.ts'
import type { Resolver } from '../resolver.ts'
import type { Broken, Dial, DialOf } from './dial-type.ts'
import type { OutboundOptions, Transport, TransportTls } from './request.ts'
import { createTunnel } from './tunnel.ts'

const TLS_SESSIONS_MAX = 1_000
const CONNECT_MS_DEFAULT = 5_000
const ADDRESS_ATTEMPT_MS = 1_000
const TRANSPORTS_KEPT_MAX = 1_000
/** For a proxy that the operator has named. Metadata services stay closed. */
const EVERY_ADDRESS = ['0.0.0.0/0', '::/0']

/** Opens the sockets. A name is resolved and checked in one step. A literal address is never resolved, so it is checked here. */
export function createDialOf(options: OutboundOptions, resolver: Resolver): DialOf {
  const guard = createAddressGuard(options)
  const connectMs = options.connectMs ?? CONNECT_MS_DEFAULT
  const connectorFor = (
    protocol: string,
    { secureContext, http2 = false }: { secureContext?: SecureContext | undefined; http2?: boolean } = {},
  ): Dial => {
    const connect = buildConnector({
      lookup: createCheckedLookup(guard, resolver, protocol),
      timeout: connectMs,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      allowH2: http2,
      rejectUnauthorized: true,
      maxCachedSessions: TLS_SESSIONS_MAX,
      ...(secureContext === undefined ? {} : { secureContext }),
      ...(secureContext !== undefined || options.ca === undefined ? {} : { ca: options.ca }),
    })
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undici returns its socket, its type hides that
    return (target, callback) => connect(target, callback) as unknown as Broken
  }
  const secureFor = (secureContext?: SecureContext): Dial =>
    preferHttp1(connectorFor('https:', { secureContext }), connectorFor('https:', { secureContext, http2: true }))
  const [plain, secure] = [connectorFor('http:'), secureFor()]
  const ordinary = checkedDial(guard, { plain, secure })
  const special = new Map<string, Dial>()

  function make({ tls, proxy }: Transport): Dial {
    const own = tls === null ? secure : secureFor(secureContextOf(tls, options.ca))
    if (proxy === null) return checkedDial(guard, { plain, secure: own })
    // Plain http through a proxy may go anywhere if TLS to the destination protects the traffic.
    const sealed = checkedDial(guard, { plain: connectorFor('https:'), secure, as: 'https:' })
    const dialProxyFor = (protocol: string): Dial => (protocol === 'https:' ? sealed : ordinary)
    const ofOperator = (): Dial => createDialOf({ ...options, allow: EVERY_ADDRESS }, resolver)(undefined)
    return createTunnel({
      proxy,
      connectMs,
      addressesOf: (hostname, protocol) => createCheckedAddresses(guard, resolver, protocol)(hostname),
      dialProxyFor: proxy.isOfOperator === true ? () => ofOperator() : dialProxyFor,
      secure: own,
    })
  }

  return (transport) => {
    if (transport === undefined) return ordinary
    const known = special.get(transport.key) ?? make(transport)
    special.delete(transport.key)
    special.set(transport.key, known)
    const [oldest] = special.keys()
    if (special.size > TRANSPORTS_KEPT_MAX && oldest !== undefined) special.delete(oldest)
    return known
  }
}

const HTTP2_HOSTS_MAX = 1_000
/** The answer of a host that speaks none of the offered protocols. */
const NO_PROTOCOL = 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL'

/**
 * Offers HTTP/2 only to a host that refused HTTP/1.1 alone, before anything was sent. A tunnel ends with the refusal, so the
 * next one starts with the offer.
 */
function preferHttp1(http1: Dial, both: Dial): Dial {
  const refusing = new Set<string>()
  return (target, callback) => {
    const host = target.host ?? target.hostname
    if (refusing.has(host)) return both(target, callback)
    let ended = false
    let held = http1(target, (...given) => {
      const [error] = given
      const isRefused = error !== null && 'code' in error && error.code === NO_PROTOCOL
      if (isRefused && refusing.size >= HTTP2_HOSTS_MAX) refusing.clear()
      if (isRefused) refusing.add(host)
      if (!isRefused || ended || target.httpSocket !== undefined) return callback(...given)
      held = both(target, callback)
    })
    return {
      destroy: () => {
        ended = true
        held?.destroy()
      },
    }
  }
}

type Connectors = {
  readonly plain: Dial
  readonly secure: Dial
  readonly as?: string
}

/** `as`: the protocol for the check of a literal address, if it is not the dialed one. */
function checkedDial(guard: AddressGuard, { plain, secure, as }: Connectors): Dial {
  return (target, callback) => {
    const { hostname, protocol } = target
    const refusal = isIP(hostname) === 0 ? undefined : validateAddress(guard, hostname, as ?? protocol)
    if (refusal !== undefined) {
      process.nextTick(callback, new UnreachableError('blocked_address', refusal), null)
      return undefined
    }
    return (protocol === 'https:' ? secure : plain)(target, callback)
  }
}

/** Made once for a transport, because reading all public authorities takes milliseconds. */
function secureContextOf({ certificate, private_key, ca }: TransportTls, trusted: string | undefined): SecureContext {
  const authorities = trusted === undefined ? getCACertificates('default') : [trusted]
  return createSecureContext({
    ...(certificate === undefined ? {} : { cert: certificate, key: private_key }),
    ca: ca === undefined ? authorities : [...authorities, ca],
  })
}
