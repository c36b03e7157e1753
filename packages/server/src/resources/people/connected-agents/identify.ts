import { decodeId, SCOPES, type Scope } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import type { Actor } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'
import { findMember } from '../users/index.ts'
import { grantPlaceIn } from './grant-id.ts'
import { findAgent } from './queries.ts'
import { manageUrlOf } from './urls.ts'
import { audienceOf } from './audience.ts'

/**
 * The agent behind an access token. The token only names the grant; the row of the grant decides about every request, so widening,
 * narrowing and revoking need no new token. The agent acts as the person who connected it, with that person's current role.
 */
export async function identifyAgent(
  deps: Pick<Deps, 'accessTokens' | 'baseUrl' | 'clock' | 'database'>,
  token: string,
): Promise<{ readonly actor: Actor & { kind: 'agent' }; readonly workspaceId: string }> {
  const claims = await deps.accessTokens.verify(token, {
    issuer: deps.baseUrl(),
    audience: audienceOf(deps),
    now: deps.clock.now(),
  })
  const { grant, sub = '', client_id: clientId } = claims ?? {}
  const place = typeof grant === 'string' ? grantPlaceIn(grant) : undefined
  const userId = decodeId('user', sub)
  if (place === undefined || userId === undefined) throw refuse('access_token_invalid')
  const agent = await findAgent(deps.database, place)
  if (agent === undefined || agent.revoked_at !== null) throw refuse('agent_revoked')
  if (agent.user_id !== userId || agent.client_id !== clientId) throw refuse('access_token_invalid')
  const member = await findMember(deps.database, { workspaceId: place.workspaceId, userId })
  if (member === undefined)
    throw refuse('agent_revoked', 'The person who connected this agent is no longer in the workspace.')
  return {
    workspaceId: place.workspaceId,
    actor: {
      kind: 'agent',
      agentId: agent.id,
      userId,
      role: member.role,
      scopes: scopesUpTo(agent.scope),
      manageUrl: manageUrlOf(deps, place),
    },
  }
}

/** A scope and the lower ones, which it includes. */
export function scopesUpTo(scope: Scope): readonly Scope[] {
  return SCOPES.slice(0, SCOPES.indexOf(scope) + 1)
}
