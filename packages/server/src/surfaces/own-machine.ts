import type { IncomingMessage } from 'node:http'

/** The headers that proxies write. The client of a proxy may be anywhere, even if the proxy is on this machine. */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'] as const
const LOOPBACK_ADDRESS = /^(?:127\.\d+\.\d+\.\d+|::1)$/
const LOOPBACK_NAME = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

type Known = {
  readonly sourceIp: (request: IncomingMessage) => string | undefined
  /** PUBLIC_URL, whose host is also a name of this server. */
  readonly publicUrl: string | undefined
}

/**
 * Whether a request was made on this machine: from a loopback address, through no proxy, and to a name of this machine. A page of
 * another site whose name was rebound to 127.0.0.1 sends the name of that site.
 */
export function createOwnMachineCheck({ sourceIp, publicUrl }: Known): (request: IncomingMessage) => boolean {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).hostname
  return (request) => {
    if (FORWARDED.some((name) => request.headers[name] !== undefined)) return false
    if (!LOOPBACK_ADDRESS.test(sourceIp(request) ?? '')) return false
    const host = hostnameIn(request.headers.host ?? '')
    return host !== undefined && (LOOPBACK_NAME.test(host) || host === publicHost)
  }
}

/** The name in a Host header, without its port and in lower case. */
function hostnameIn(host: string): string | undefined {
  return /^[^\s@/?#\\]+$/.test(host) ? URL.parse(`http://${host}`)?.hostname : undefined
}
