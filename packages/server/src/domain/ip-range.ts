import ipaddr from 'ipaddr.js'

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number]

/** True when the address may pass. An unknown address never passes. */
export type AllowsIp = (address: string | undefined) => boolean

/**
 * Compiles a list of addresses and CIDR ranges; undefined when the list is empty, which allows every address. An IPv4 address
 * and its IPv4-mapped IPv6 form are equal, on either side.
 */
export function compileIpAllowlist(entries: readonly string[]): AllowsIp | undefined {
  if (entries.length === 0) return undefined
  const ranges = entries.map(rangeOf)
  return (text) => {
    const address = text === undefined ? undefined : addressOf(text)
    return address !== undefined && ranges.some((range) => contains(range, address))
  }
}

/** True for the text of an IPv4 or IPv6 address, without brackets. */
export function isIpAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
}

function contains([network, bits]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network.kind() === address.kind() && address.match(network, bits)
}

/** A zone (`fe80::1%eth0`) names a network interface, not a sender. */
function addressOf(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const zone = text.indexOf('%')
  const bare = zone < 0 ? text : text.slice(0, zone)
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined
}

const MAPPED_BITS = 96

function rangeOf(entry: string): Range {
  const [text = '', length] = entry.split('/')
  const parsed = ipaddr.parse(text)
  const bits = length === undefined ? (parsed.kind() === 'ipv6' ? 128 : 32) : Number(length)
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && bits >= MAPPED_BITS)
    return [parsed.toIPv4Address(), bits - MAPPED_BITS]
  return [parsed, bits]
}

/**
 * The network of an address, for limits: an IPv6 address counts by its /64, because one customer line has that many addresses.
 */
export function networkOf(text: string | undefined): string {
  const address = text === undefined ? undefined : addressOf(text)
  if (address === undefined) return 'unknown'
  if (address instanceof ipaddr.IPv6)
    return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`).toNormalizedString()}/64`
  return address.toString()
}
