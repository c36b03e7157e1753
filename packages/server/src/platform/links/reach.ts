import { checkServerIdentity, getCACertificates, type PeerCertificate } from 'node:tls'
import type { OutboundReach } from '../outbound-reach.ts'
import type { LinkPlace } from './types.ts'

/** Errors after which another address of the same host is worth a try, because nothing was sent yet. */
const NOT_THERE = /^(ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN)$/

/**
 * Connects to the addresses of the host that passed the guard, one after another. `connect` gets the address itself, so
 * a driver resolves nothing and reaches exactly the checked address.
 */
export async function overAddresses<T>(
  { reach, place }: { readonly reach: OutboundReach; readonly place: LinkPlace },
  connect: (address: string) => Promise<T>,
): Promise<T> {
  const addresses = await reach.addressesOf(place.host, place.isEncrypted ? 'https:' : 'http:')
  for (const [index, address] of addresses.entries()) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one address after another
      return await connect(address)
    } catch (error) {
      if (index === addresses.length - 1 || !NOT_THERE.test(codeOf(error))) throw error
    }
  }
  throw new Error('unreachable: addressesOf rejects when there is no address')
}

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

export type LinkTls = {
  readonly rejectUnauthorized: true
  readonly servername: string
  readonly ca: string[]
  readonly cert?: string
  readonly key?: string
  readonly checkServerIdentity: (name: string, certificate: PeerCertificate) => Error | undefined
}

/** TLS with the name of the host, whatever address is dialed. */
export function tlsOptions(reach: OutboundReach, { host, tls }: LinkPlace): LinkTls {
  const authorities = reach.ca === undefined ? getCACertificates('default') : [reach.ca]
  return {
    rejectUnauthorized: true,
    servername: /[a-z]/i.test(host) && !host.includes(':') ? host : '',
    ca: tls?.ca === undefined ? authorities : [...authorities, tls.ca],
    ...(tls?.certificate === undefined ? {} : { cert: tls.certificate }),
    ...(tls?.private_key === undefined ? {} : { key: tls.private_key }),
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  }
}
