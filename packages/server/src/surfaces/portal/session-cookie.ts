import type { FastifyRequest } from 'fastify'
import type { Deps } from '../../context.ts'
import type { Guest, SessionOf } from '../../resources/serving/portal-api/index.ts'
import { cookiesNamed } from '../cookies.ts'

/** Contract part 5. The prefix makes browsers refuse the cookie without Secure, with a Domain or for another path. */
const COOKIE = '__Host-service_portal'
const MARK = 'portal'

/** Portals are embedded in pages of other sites, so the cookie is sent there, in a jar for each site that embeds it. */
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=None; Partitioned'

export type PortalSession = SessionOf & { readonly endsAt: number }

/**
 * The sealed cookie names the token, so that revoking the token ends the session, and the epoch of the portal, so that
 * turning the portal off ends the session for good.
 */
export async function portalCookie(deps: Deps, guest: Guest, endsAt: number): Promise<string> {
  const { workspaceId, projectId, token_id: tokenId, session_epoch: epoch } = guest
  const content = [MARK, workspaceId, projectId, tokenId, String(endsAt), String(epoch)].join(':')
  const maxAge = Math.max(0, Math.floor((endsAt - deps.clock.now()) / 1_000))
  return `${COOKIE}=${await deps.cookies.seal(content)}; ${ATTRIBUTES}; Max-Age=${maxAge}`
}

export const endedPortalCookie = `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`

/** The session in the cookie of the request; undefined: there is none, this server did not seal it, or it has ended. */
export async function readPortalCookie(
  deps: Deps,
  request: Pick<FastifyRequest, 'headers'>,
): Promise<PortalSession | undefined> {
  for (const value of cookiesNamed(request, COOKIE)) {
    // oxlint-disable-next-line no-await-in-loop -- there is one, unless another page has set a second one
    const [mark, workspaceId, projectId, tokenId, endsAt, epoch = '0'] = ((await deps.cookies.open(value)) ?? '').split(
      ':',
    )
    if (mark !== MARK || workspaceId === undefined || projectId === undefined || tokenId === undefined) continue
    if (Number(endsAt) <= deps.clock.now()) continue
    return { workspaceId, projectId, tokenId, endsAt: Number(endsAt), epoch: Number(epoch) }
  }
  return undefined
}
