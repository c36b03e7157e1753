/**
 * The addresses that an outgoing request may reach: well-formed URLs on the public internet, and the ranges in OUTBOUND_ALLOW.
 */
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Resolver } from './resolver.ts'

export type AddressGuard = {
  /** Returns the reason why this address may not be reached, as a sentence, or undefined when it may. Names no address. */
  readonly refuses: (address: string) => string | undefined
  /** Whether `http://` is allowed to this address: only inside an allow range, and never to metadata. */
  readonly allowsPlainHttp: (address: string) => boolean
}

/** The target of a URL: the origin to connect to, without a trailing dot, and the path to request. */
export type Target = { readonly origin: string; readonly path: string }

/** The reason why no connection was tried. The message is a sentence for the destination's owner. */
export class UnreachableError extends Error {
  readonly code: 'dns_failed' | 'blocked_address' | 'proxy_failed'

  constructor(code: UnreachableError['code'], message: string) {
    super(message)
    this.code = code
  }
}

type Ip = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [base: Ip, bits: number]

/** These services return the machine's own credentials, so no allow range opens them. The last three: Azure, Oracle, GCP. */
const METADATA = new Set([
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd00:ec2::23',
  '168.63.129.16',
  '192.0.0.192',
  'fd20:ce::254',
])

/** 6to4, Teredo, local NAT64 and SIIT carry an IPv4 address that a second guard would have to judge. Nobody needs them. */
const TUNNELS = ['2002::/16', '2001::/32', '64:ff9b:1::/48', '::ffff:0:0:0/96'].map(rangeOf)

/** IPv4-mapped, IPv4-compatible and NAT64: the last four bytes are the address that is really reached. */
const WRAPPERS = ['::ffff:0:0/96', '::/96', '64:ff9b::/96'].map(rangeOf)

const GLOBAL_UNICAST = rangeOf('2000::/3')
const ADDRESSES_MAX = 16

export type GuardOptions = {
  readonly allow: readonly string[]
  /** The setting with these ranges, as refusals name it. */
  readonly setting?: string | undefined
}

/**
 * Builds the guard. `allow` lists CIDRs (or single addresses) that may be reached beyond the public internet; an entry that is
 * neither throws. Spec 6: mapped and NAT64 forms are unwrapped, and every address that is not public is refused.
 */
export function createAddressGuard({ allow, setting = 'OUTBOUND_ALLOW' }: GuardOptions): AddressGuard {
  const ranges = allow.map(rangeOf).map(unwrappedRange)
  const allowed = (ip: Ip): boolean => ranges.some((range) => contains(range, ip))

  function refuses(address: string): string | undefined {
    const ip = parse(address)
    if (ip === undefined) return 'The host has no usable IP address.'
    if (METADATA.has(ip.toString())) return 'A cloud metadata address can never be reached.'
    if (TUNNELS.some((range) => contains(range, ip))) return 'A tunneled IPv4 address can never be reached.'
    if (allowed(ip) || isPublic(ip)) return undefined
    return `The address is not on the public internet (${kindOf(ip)}). Use a public address, or ask the operator to add it to ${setting}.`
  }

  function allowsPlainHttp(address: string): boolean {
    const ip = parse(address)
    return ip !== undefined && allowed(ip) && refuses(address) === undefined
  }

  return { refuses, allowsPlainHttp }
}

/** The target of a URL, or a sentence with the reason why it cannot be called. `URL` normalizes numeric host tricks. */
export function targetOf(url: string): Target | string {
  const parsed = URL.parse(url)
  if (parsed === null) return 'The URL cannot be read. Send a complete one, such as https://example.com/hooks.'
  const { protocol, hostname, port, pathname, search } = parsed
  if (protocol !== 'https:' && protocol !== 'http:') return 'Only http and https URLs can be called; send one of these.'
  if (parsed.username !== '' || parsed.password !== '')
    return 'The URL must not contain a username or password. Remove them, and set them as credentials.'
  if (port === '0') return 'Port 0 cannot be called. Use another port.'
  const host = hostname.replace(/\.$/, '')
  if (/^$|^\.|\.$|\.\./.test(host)) return 'The host name is not valid; check its dots.'
  return { origin: `${protocol}//${host}${port === '' ? '' : `:${port}`}`, path: pathname + search }
}

/**
 * The sentence that refuses one address for one protocol, or undefined. Spec 6: http is allowed only to addresses in
 * OUTBOUND_ALLOW, https to every address that passes.
 */
export function validateAddress(guard: AddressGuard, address: string, protocol: string): string | undefined {
  const plain = protocol !== 'https:' && !guard.allowsPlainHttp(address)
  return guard.refuses(address) ?? (plain ? 'Plain http is not allowed to this address; use https.' : undefined)
}

/**
 * The addresses of a host that passed the guard, at most 16. Rejects with the reason when there are none. One bad address in a
 * DNS answer blocks the name, because that is how DNS rebinding looks. For this machine's own names, the good addresses are
 * used.
 */
export function createCheckedAddresses(
  guard: AddressGuard,
  resolver: Resolver,
  protocol: string,
): (hostname: string) => Promise<readonly string[]> {
  return async (hostname) => {
    const resolution =
      isIP(hostname) === 0
        ? await resolver.resolve(hostname)
        : ({ kind: 'addresses', source: 'local', addresses: [hostname] } as const)
    if (resolution.kind === 'failure') throw new UnreachableError('dns_failed', resolution.detail)
    const { addresses, source } = resolution
    const refusals = addresses.map((address) => validateAddress(guard, address, protocol))
    const passing = addresses.filter((_address, index) => refusals[index] === undefined)
    const refusal = refusals.find((reason) => reason !== undefined) ?? 'The host has no usable IP address.'
    const blocked = passing.length === 0 || (source === 'dns' && passing.length < addresses.length)
    if (blocked) throw new UnreachableError('blocked_address', refusal)
    return passing.slice(0, ADDRESSES_MAX)
  }
}

/** The checked addresses as a `lookup` for sockets. */
export function createCheckedLookup(guard: AddressGuard, resolver: Resolver, protocol: string): LookupFunction {
  const look = createCheckedAddresses(guard, resolver, protocol)
  return (hostname, _options, callback) => {
    look(hostname).then(
      (addresses) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        ),
      (error: Error) => callback(error, []),
    )
  }
}

/** The address itself, or the IPv4 address that it wraps. ipaddr.js alone would also accept `0177.1`, so isIP goes first. */
function parse(address: string): Ip | undefined {
  if (isIP(address) === 0 || address.includes('%')) return undefined
  const ip = ipaddr.parse(address)
  const inner = ip.toByteArray().slice(-4)
  return isWrapper(ip) ? new ipaddr.IPv4(inner) : ip
}

function isWrapper(ip: Ip): boolean {
  return ip.toString() !== '::' && ip.toString() !== '::1' && WRAPPERS.some((range) => contains(range, ip))
}

function contains([base, bits]: Range, ip: Ip): boolean {
  return base.kind() === ip.kind() && ip.match(base, bits)
}

/** ipaddr.js also calls unassigned IPv6 space unicast, but only 2000::/3 has been assigned. */
function isPublic(ip: Ip): boolean {
  return ip.range() === 'unicast' && (ip.kind() === 'ipv4' || contains(GLOBAL_UNICAST, ip))
}

function kindOf(ip: Ip): string {
  return ip.range() === 'unicast' ? 'unassigned' : ip.range()
}

function rangeOf(text: string): Range {
  const [address = '', bits, ...rest] = text.split('/')
  const bitsMax = isIP(address) === 6 ? 128 : 32
  const length = bits === undefined ? bitsMax : Number(bits)
  if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits ?? '0') || length > bitsMax) {
    throw new Error(`"${text}" is not an address range; write it like 10.0.0.0/8 or fd00::/8`)
  }
  return [ipaddr.parse(address), length]
}

/** An IPv4 range written as mapped IPv6 becomes that IPv4 range, because addresses are unwrapped before they are compared. */
function unwrappedRange([base, bits]: Range): Range {
  const mapped = base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96
  return mapped ? [base.toIPv4Address(), bits - 96] : [base, bits]
}

/**
 * The reason why no request could ever reach this URL, as far as that is known without a DNS lookup, so that it is
 * refused when it is saved. A literal address is judged immediately, and a name when it is used.
 */
export function createUrlCheck(guard: AddressGuard): (url: string) => string | undefined {
  return (url) => {
    const target = targetOf(url)
    if (typeof target === 'string') return target
    const { hostname, protocol } = new URL(target.origin)
    const host = hostname.replace(/^\[|\]$/g, '')
    return isIP(host) === 0 ? undefined : validateAddress(guard, host, protocol)
  }
}

/**
 * The reason why plain http to the host of this URL is forbidden; undefined when it is allowed, and for https. A name is
 * resolved, because http is only for addresses that the operator has listed. The current addresses of the name are all that can
 * be checked when it is saved.
 */
export function createPlainHttpCheck(
  guard: AddressGuard,
  resolver: Resolver,
): (url: string) => Promise<string | undefined> {
  const look = createCheckedAddresses(guard, resolver, 'http:')
  return async (url) => {
    const target = targetOf(url)
    if (typeof target === 'string' || !target.origin.startsWith('http:')) return undefined
    const { hostname } = new URL(target.origin)
    try {
      await look(hostname.replace(/^\[|\]$/g, ''))
      return undefined
    } catch (error) {
      if (!(error instanceof UnreachableError)) throw error
      const rule = 'Plain http goes only to addresses in OUTBOUND_ALLOW'
      return error.code === 'dns_failed'
        ? `${rule}, and ${hostname} cannot be looked up: ${error.message} Use https, or correct the name.`
        : `${rule}, and ${hostname} has another one. Use https, or ask the operator to add the address to OUTBOUND_ALLOW.`
    }
  }
}
