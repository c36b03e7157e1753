import { LIMITS } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../../../context.ts'
import { nextPath } from '../../../domain/people/next-path.ts'
import { beginIdentity, type Visit } from '../../../resources/people/sign-in/index.ts'
import { cookiesNamed } from '../../cookies.ts'
import { setCookie } from '../session-cookie.ts'

export const OIDC_PATH = '/admin/api/session/oidc'
const COOKIE = 'service_sign_in'
const MARK = 'oidc:'

/** The sealed state that a browser stores during its sign-in, so that nobody can finish the sign-in in another browser. */
const Begun = z.object({
  state: z.string(),
  nonce: z.string(),
  code_verifier: z.string(),
  next: z.string(),
  until: z.number(),
})
export type Begun = z.infer<typeof Begun>

/**
 * The URL for the browser, and the cookie that it must bring back. `next` may contain the token of an invite, so no URL
 * contains it.
 */
export async function beginOidc(
  visit: Visit,
  next: string | undefined,
): Promise<{ readonly url: string; readonly cookie: string }> {
  const { url, begun } = await beginIdentity(visit, redirectUri(visit))
  const state: Begun = { ...begun, next: nextPath(next), until: visit.clock.now() + LIMITS.oidcSignInMs }
  const value = await visit.cookies.seal(MARK + JSON.stringify(state))
  return { url, cookie: setCookie(visit, { name: COOKIE, value, path: OIDC_PATH, maxAgeMs: LIMITS.oidcSignInMs }) }
}

export async function begunIn(deps: Deps, request: FastifyRequest): Promise<Begun | undefined> {
  for (const value of cookiesNamed(request, COOKIE)) {
    // oxlint-disable-next-line no-await-in-loop -- there is usually one
    const opened = await deps.cookies.open(value)
    if (opened?.startsWith(MARK) !== true) continue
    const begun = Begun.safeParse(JSON.parse(opened.slice(MARK.length)))
    if (begun.success && begun.data.until > deps.clock.now()) return begun.data
  }
  return undefined
}

export const endedBegun = (deps: Deps): string =>
  setCookie(deps, { name: COOKIE, value: '', path: OIDC_PATH, maxAgeMs: 0 })

/** Built from PUBLIC_URL, whichever host the request names. */
export const redirectUri = (deps: Pick<Deps, 'baseUrl'>): string => `${deps.baseUrl()}${OIDC_PATH}/callback`
