import type { EndpointResponse } from '@postroad/contract'

/** The response of an endpoint, as it is written. */
export type CompiledResponse = {
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: Buffer
}

/**
 * A member of a workspace, or a sender, writes the body, and the console has the same origin. So no browser runs it or treats it as a
 * page of this origin: a form of another page can make a browser show it.
 */
export const INERT_HEADERS = [
  'Content-Security-Policy',
  "default-src 'none'; sandbox",
  'X-Content-Type-Options',
  'nosniff',
  'Cache-Control',
  'no-store',
]

/** undefined: the endpoint answers as the contract says. */
export function compileResponse(setting: EndpointResponse): CompiledResponse | undefined {
  if (setting === null) return undefined
  const { status, content_type: type } = setting
  const body = Buffer.from(setting.body)
  const headers = [
    ...(type === null ? [] : ['Content-Type', type]),
    ...(status === 204 ? [] : ['Content-Length', String(body.length)]),
    ...INERT_HEADERS,
  ]
  return { status, headers, body }
}
