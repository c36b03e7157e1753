import { LIMITS } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import { cookiesNamed } from '../cookies.ts'

export const COOKIE = 'service_session'
const MARK = 'session:'

/** The sealed cookie (contract part 5) with the secret of the session. It is HttpOnly, and Secure when people use https. */
export async function sessionCookie(deps: Deps, secret: string): Promise<string> {
  return setCookie(deps, {
    name: COOKIE,
    value: await deps.cookies.seal(MARK + secret),
    path: '/',
    maxAgeMs: LIMITS.sessionMs,
  })
}

export function endedCookie(deps: Deps): string {
  return setCookie(deps, { name: COOKIE, value: '', path: '/', maxAgeMs: 0 })
}

export function setCookie(deps: Deps, of: { name: string; value: string; path: string; maxAgeMs: number }): string {
  const secure = deps.baseUrl().startsWith('https:') ? '; Secure' : ''
  return `${of.name}=${of.value}; Path=${of.path}; HttpOnly; SameSite=Lax; Max-Age=${of.maxAgeMs / 1_000}${secure}`
}

/** The session's secret from the cookie of the request; undefined when there is none, or this server did not seal it. */
export async function readSessionCookie(
  deps: Deps,
  request: Pick<FastifyRequest, 'headers'>,
): Promise<string | undefined> {
  for (const value of cookiesNamed(request, COOKIE)) {
    // oxlint-disable-next-line no-await-in-loop -- there is one, unless a neighboring host has set another one
    const opened = await deps.cookies.open(value)
    if (opened?.startsWith(MARK) === true) return opened.slice(MARK.length)
  }
  return undefined
}
