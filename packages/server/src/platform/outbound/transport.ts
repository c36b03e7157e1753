import { createHash } from 'node:crypto'
import type { Transport, TransportProxy, TransportTls } from './request.ts'

type Held = {
  readonly tls: TransportTls | null
  readonly proxy: {
    readonly url: string
    readonly username?: string | undefined
    readonly password?: string | undefined
  } | null
}

/** The transport for these settings; undefined when they need none, which costs nothing. */
export function transportOf({ tls, proxy }: Held): Transport | undefined {
  if (tls === null && proxy === null) return undefined
  const through: TransportProxy | null =
    proxy === null ? null : { url: proxy.url, authorization: authorizationOf(proxy) }
  const key = createHash('sha256')
    .update(JSON.stringify([tls, through]))
    .digest('base64url')
  return { key, tls, proxy: through }
}

export function authorizationOf({
  username,
  password = '',
}: Omit<NonNullable<Held['proxy']>, 'url'>): string | undefined {
  return username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
