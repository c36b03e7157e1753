import ipaddr from 'ipaddr.js'

/** The unit that is limited as one sender: an IPv4 address, or the /64 of an IPv6 address, which one subscriber has. */
export const sourceOf = (ip: string | undefined): string => prefixOf(ip, { v4: 32, v6: 64 })

/** The network that shares a part of the day's cap: a /24, or a /48 with IPv6. */
export const networkOf = (ip: string | undefined): string => prefixOf(ip, { v4: 24, v6: 48 })

/** Senders without a known address share one unit. */
function prefixOf(ip: string | undefined, bits: { readonly v4: number; readonly v6: number }): string {
  if (ip === undefined || !ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip)
  const length = address.kind() === 'ipv4' ? bits.v4 : bits.v6
  const network =
    address.kind() === 'ipv4'
      ? ipaddr.IPv4.networkAddressFromCIDR(`${address.toString()}/${length}`)
      : ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${length}`)
  return `${network.toString()}/${length}`
}
