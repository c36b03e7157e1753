import type { LookupFunction } from 'node:net'
import { createAddressGuard, createCheckedAddresses, createCheckedLookup } from './address-guard.ts'
import { createDialOf } from './outbound/dial.ts'
import type { Dial } from './outbound/dial-type.ts'
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
  /** Opens sockets for an HTTP client. */
  readonly dial: Dial
  /** Authorities instead of the system's; undefined: the system's. */
  readonly ca: string | undefined
  readonly close: () => void
}

type Options = { readonly allow: readonly string[]; readonly resolver?: Resolver | undefined; readonly ca?: string }

export function createOutboundReach({ allow, resolver, ca }: Options): OutboundReach {
  const guard = createAddressGuard({ allow })
  const names = resolver ?? createResolver()
  return {
    addressesOf: (hostname, protocol) => createCheckedAddresses(guard, names, protocol)(hostname),
    lookupFor: (protocol) => createCheckedLookup(guard, names, protocol),
    dial: createDialOf({ allow, ...(ca === undefined ? {} : { ca }) }, names)(undefined),
    ca,
    close: () => {
      if (resolver === undefined) names.close()
    },
  }
}
