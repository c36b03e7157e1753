import { encodeId, type Scope } from '@postroad/contract'
import { importJWK, SignJWT } from 'jose'
import type { Database } from '../../src/platform/db.ts'
import { grantIdOf } from '../../src/resources/people/connected-agents/grant-id.ts'
import { revokeAgent, upsertAgent } from '../../src/resources/people/connected-agents/queries.ts'
import type { World } from './harness.ts'
import type { Headers, Member } from './people.ts'

export type GrantedAgent = { readonly id: string; readonly uuid: string; readonly headers: Headers }

/** A connected agent as a row, with a token for it; stage/oauth-stage.ts has the flow with the consent. */
export async function aGrantedAgent(
  world: World,
  database: Database,
  { workspaceId, userId, scope, revoked = false }: Member & { scope: Scope; revoked?: boolean },
): Promise<GrantedAgent> {
  const { uuid, clock, accessTokens } = world.app.deps
  const clientId = `client ${uuid()}`
  const now = new Date(clock.now())
  const { id } = await upsertAgent(database, {
    workspaceId,
    id: uuid(),
    user_id: userId,
    client_id: clientId,
    name: 'Test agent',
    host: null,
    redirect_host: '127.0.0.1',
    scope,
    now,
  })
  if (revoked) await revokeAgent(database, { workspaceId, id, by: 'person', now })
  const [jwk] = accessTokens.privateKeys()
  if (jwk === undefined) throw new Error('There is no key.')
  const token = await new SignJWT({ client_id: clientId, grant: grantIdOf({ workspaceId, id }) })
    .setProtectedHeader({ alg: jwk.alg, typ: 'at+jwt', kid: jwk.kid })
    .setSubject(encodeId('user', userId))
    .setIssuer(world.baseUrl)
    .setAudience(`${world.baseUrl}/mcp`)
    .setIssuedAt(now)
    .setExpirationTime(new Date(now.getTime() + 3_600_000))
    .sign(await importJWK(jwk, jwk.alg))
  return { id: encodeId('connectedAgent', id), uuid: id, headers: { authorization: `Bearer ${token}` } }
}
