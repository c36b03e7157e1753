import { encodeId, type Reason } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import { aGrantedAgent } from './agents-granted.ts'
import type { Answer, World } from './harness.ts'
import { aBrowserOf, aClient, asksFor, authorizeUrl } from './oauth-stage.ts'
import { ask, theWorkspace } from './people.ts'

type OauthReason = Extract<
  Reason,
  | 'access_token_invalid'
  | 'agent_revoked'
  | 'agent_scope_insufficient'
  | 'consent_over'
  | 'user_code_unknown'
  | 'oauth_client_unknown'
>

/** Refusals about connected agents. */
export function oauthRefusals(
  stage: () => { readonly world: World; readonly database: Database },
): Readonly<Record<OauthReason, () => Promise<Answer>>> {
  const agent = async (of: { scope?: 'service:read'; revoked?: boolean } = {}) => {
    const { world, database } = stage()
    return aGrantedAgent(world, database, { ...(await theWorkspace(database)), scope: 'service:read', ...of })
  }
  const browser = async () => {
    const { world, database } = stage()
    return aBrowserOf(world, await theWorkspace(database))
  }
  return {
    access_token_invalid: async () => {
      const { headers } = await agent()
      return ask(stage().world, 'GET me', {
        headers: { authorization: `${headers['authorization']?.slice(0, -4)}AAAA` },
      })
    },
    agent_revoked: async () => ask(stage().world, 'GET me', { headers: (await agent({ revoked: true })).headers }),
    agent_scope_insufficient: async () =>
      ask(stage().world, 'POST rules', { headers: (await agent()).headers, body: { name: 'x', dataset: 'x' } }),
    consent_over: async () => (await browser()).call('GET /api/oauth/consent/nothing/request'),
    user_code_unknown: async () => (await browser()).call('POST /api/oauth/device/request', { user_code: 'BBBB-BBBB' }),
    oauth_client_unknown: async () => {
      const { world, database } = stage()
      const person = await browser()
      const page = await asksFor(person, authorizeUrl(world, { client: await aClient(world) }))
      await database.run({ strings: [`delete from oauth_entries where kind = 'Client'`], values: [] })
      return person.call(`POST ${page}/request`, {
        decision: 'allow',
        scope: 'service:read',
        workspace_id: encodeId('workspace', (await theWorkspace(database)).workspaceId),
      })
    },
  }
}
