/**
 * The forward proxy that the environment names, as curl and Go read it: HTTPS_PROXY for https and wss, HTTP_PROXY for http and
 * ws, and the hosts in NO_PROXY directly. A name in lower case goes before the same name in upper case.
 */

export type EnvironmentProxy = {
  readonly url: URL
  /** The variable that names it, for messages. */
  readonly variable: string
}

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLES: Readonly<Record<string, string>> = {
  'https:': 'HTTPS_PROXY',
  'wss:': 'HTTPS_PROXY',
  'http:': 'HTTP_PROXY',
  'ws:': 'HTTP_PROXY',
}
const PORTS: Readonly<Record<string, number>> = { 'https:': 443, 'wss:': 443, 'http:': 80, 'ws:': 80 }

/** Undefined: directly. Throws a sentence for a variable that names no HTTP proxy. A proxy reaches another loopback than the caller, so loopback is always direct. */
export function environmentProxy(to: URL, env: Environment): EnvironmentProxy | undefined {
  const named = given(env, VARIABLES[to.protocol] ?? '')
  if (named === undefined || isLoopbackHost(to.hostname) || isDirect(to, given(env, 'NO_PROXY')?.value ?? ''))
    return undefined
  return { url: proxyUrl(named), variable: named.variable }
}

/** The URL of the proxy for messages, without its username and password. */
export const proxyName = ({ url, variable }: EnvironmentProxy): string => `${url.protocol}//${url.host} (${variable})`

type Given = { readonly variable: string; readonly value: string }

function given(env: Environment, name: string): Given | undefined {
  for (const variable of [name.toLowerCase(), name]) {
    const value = env[variable]?.trim() ?? ''
    if (value !== '') return { variable, value }
  }
  return undefined
}

function proxyUrl({ variable, value }: Given): URL {
  const url = httpProxyUrl(value)
  if (url !== undefined) return url
  throw new TypeError(`${variable} must be the URL of an HTTP proxy, such as http://proxy.example.com:3128.`)
}

/** Undefined for a proxy of another kind. `proxy:3128` is an http proxy, as for curl. */
export function httpProxyUrl(value: string): URL | undefined {
  const text = value.includes('://') ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && /^https?:$/.test(url.protocol) ? url : undefined
}

const plainHost = (host: string): string => host.toLowerCase().replace(/^\[|\]$|\.$/g, '')

function isLoopbackHost(hostname: string): boolean {
  const host = plainHost(hostname)
  return host === '::1' || host === 'localhost' || host.endsWith('.localhost') || /^127(?:\.\d+){3}$/.test(host)
}

function isDirect(to: URL, list: string): boolean {
  const port = to.port === '' ? PORTS[to.protocol] : Number(to.port)
  return list
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => entryCovers(entry, { host: plainHost(to.hostname), port }))
}

/** `example.com` covers its subdomains too, with or without a dot or `*.` before it. */
function entryCovers(entry: string, to: { readonly host: string; readonly port: number | undefined }): boolean {
  if (entry === '*') return true
  const range = /^(\d+(?:\.\d+){3})\/(\d+)$/.exec(entry)
  if (range !== null) return inRange(to.host, range)
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? []
  const host = plainHost(bracketed ?? plain ?? '').replace(/^\*?\./, '')
  if (host === '' || (port !== undefined && Number(port) !== to.port)) return false
  return to.host === host || to.host.endsWith(`.${host}`)
}

function inRange(host: string, [, base = '', bits = '']: RegExpExecArray): boolean {
  const [address, network] = [ipv4(host), ipv4(base)]
  if (address === undefined || network === undefined || Number(bits) > 32) return false
  const size = 2 ** (32 - Number(bits))
  return Math.floor(address / size) === Math.floor(network / size)
}

function ipv4(text: string): number | undefined {
  const parts = text.split('.').map(Number)
  const isAddress = parts.length === 4 && parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255)
  return isAddress ? parts.reduce((sum, part) => sum * 256 + part, 0) : undefined
}
