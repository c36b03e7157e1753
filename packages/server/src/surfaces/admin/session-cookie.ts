import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { SESSION_MS } from '../../resources/sessions/index.ts'

export const COOKIE = 'service_session'
const PLACE = 'cookie.service_session'

/** The sealed cookie (contract part 5): HttpOnly, and Secure when people reach us over https. */
export function sessionCookie(deps: Deps, secret: string): string {
  const sealed = deps.cipher.seal(secret, PLACE).toString('base64url')
  return `${COOKIE}=${sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${SESSION_MS / 1_000}${secure(deps)}`
}

export function endedCookie(deps: Deps): string {
  return `${COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0${secure(deps)}`
}

const secure = (deps: Deps): string => (deps.baseUrl().startsWith('https:') ? '; Secure' : '')

/** The session's secret from the request's cookie; undefined when there is none, or it was not sealed here. */
export function readSessionCookie(deps: Deps, request: FastifyRequest): string | undefined {
  const pair = (request.headers.cookie ?? '').split(/; */).find((text) => text.startsWith(`${COOKIE}=`))
  if (pair === undefined) return undefined
  try {
    return deps.cipher.open(Buffer.from(pair.slice(COOKIE.length + 1), 'base64url'), PLACE).reveal()
  } catch {
    return undefined
  }
}
