import { createHash } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import { environmentProxy } from '@postroad/contract/environment-proxy'
import { createAddressGuard, createCheckedAddresses, createCheckedLookup, UnreachableError } from './address-guard.ts'
import { createDialOf } from './outbound/dial.ts'
import type { Dial, DialOf } from './outbound/dial-type.ts'
import type { Transport } from './outbound/request.ts'
import { authorizationOf } from './outbound/transport.ts'
import { createResolver, type Resolver } from './resolver.ts'

/**
 * Connections that are not one HTTP request: to databases, to WebSockets and to streams. They pass the same guard, and go to
 * exactly the address that it checked. `https:` stands for encrypted, and `http:` for plain, which only OUTBOUND_ALLOW permits.
 */
export type OutboundReach = {
  /** The addresses of a host, at most 16. Rejects with `UnreachableError`. */
  readonly addressesOf: (hostname: string, protocol: 'https:' | 'http:') => Promise<readonly string[]>
  /** For clients that look names up themselves. It is not called for a literal address: check that with `addressesOf`. */
  readonly lookupFor: (protocol: 'https:' | 'http:') => LookupFunction
  /** Opens sockets for an HTTP client, through the proxy of the environment if it has one for the host. */
  readonly dial: Dial
  /** Whether `dial` goes through a proxy. */
  readonly hasProxyFor: (url: string) => boolean
  /** Authorities instead of the system's; undefined: the system's. */
  readonly ca: string | undefined
  readonly close: () => void
}

type Environment = Readonly<Record<string, string | undefined>>

type Options = {
  readonly allow: readonly string[]
  readonly resolver?: Resolver | undefined
  readonly ca?: string | undefined
  /** Has HTTPS_PROXY, HTTP_PROXY and NO_PROXY. */
  readonly environment?: Environment
}

export function createOutboundReach({ allow, resolver, ca, environment = {} }: Options): OutboundReach {
  const guard = createAddressGuard({ allow })
  const names = resolver ?? createResolver()
  const dialOf = createDialOf({ allow, ...(ca === undefined ? {} : { ca }) }, names)
  return {
    addressesOf: (hostname, protocol) => createCheckedAddresses(guard, names, protocol)(hostname),
    lookupFor: (protocol) => createCheckedLookup(guard, names, protocol),
    dial: dialThrough(dialOf, environment),
    hasProxyFor: (url) => environmentProxy(new URL(url), environment) !== undefined,
    ca,
    close: () => {
      if (resolver === undefined) names.close()
    },
  }
}

/** The guard checks the target through the proxy too, and the proxy gets the checked address, never the name. */
function dialThrough(dialOf: DialOf, environment: Environment): Dial {
  return (target, callback) => {
    const { hostname, port, protocol } = target
    const host = hostname.includes(':') ? `[${hostname}]` : hostname
    const proxy = environmentProxy(new URL(`${protocol}//${host}${port === '' ? '' : `:${port}`}`), environment)
    if (proxy === undefined) return dialOf(undefined)(target, callback)
    return dialOf(transportTo(proxy.url))(target, (...given) => {
      const [error] = given
      if (!(error instanceof UnreachableError)) return callback(...given)
      const message = error.message.replace(/\b(the proxy)\b/i, `$1 in ${proxy.variable}`)
      callback(new UnreachableError(error.code, message), null)
    })
  }
}

function transportTo({ protocol, host, username, password }: URL): Transport {
  const url = `${protocol}//${host}`
  const authorization =
    username === ''
      ? undefined
      : authorizationOf({ username: decodeURIComponent(username), password: decodeURIComponent(password) })
  const key = createHash('sha256')
    .update(JSON.stringify(['operator', url, authorization ?? null]))
    .digest('base64url')
  return { key, tls: null, proxy: { url, authorization, isOfOperator: true } }
}
