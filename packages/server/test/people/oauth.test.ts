import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { atGate, rowsGate } from '../stage/gates.ts'
import type { World } from '../stage/harness.ts'
import { whileLocked } from '../stage/meanwhile.ts'
import {
  aBrowserOf,
  aClient,
  aConnectedAgent,
  allows,
  aPkce,
  asksFor,
  authorizeUrl,
  claimsIn,
  redeem,
  REDIRECT,
  refresh,
  sendForm,
} from '../stage/oauth-stage.ts'
import { aMember, ask, theWorkspace, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database
let owner: Member
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    owner = await theWorkspace(database)
  },
  { loops: [] },
)

test('a client finds the server from /mcp: the challenge, the metadata of the resource, and that of the server', async () => {
  const refused = await fetch(`${world.baseUrl}/mcp`, { method: 'POST' })
  assert.equal(refused.status, 401)
  const found = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? ''
  assert.equal(found, `${world.baseUrl}/.well-known/oauth-protected-resource/mcp`)
  const resource = (await (await fetch(found)).json()) as { resource: string; authorization_servers: string[] }
  assert.equal(resource.resource, `${world.baseUrl}/mcp`)
  const [issuer = ''] = resource.authorization_servers
  const server = (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<
    string,
    unknown
  >
  assert.equal(server['issuer'], issuer)
  assert.deepEqual(server['code_challenge_methods_supported'], ['S256'])
  assert.equal(server['client_id_metadata_document_supported'], true)
  assert.equal(server['authorization_response_iss_parameter_supported'], true)
  const keys = (await (await fetch(String(server['jwks_uri']))).json()) as { keys: Record<string, unknown>[] }
  assert.equal(keys.keys.length, 1)
  assert.ok(
    keys.keys.every((key) => !('d' in key)),
    'no private key',
  )
})

test('a person connects a client: code with PKCE, consent, and a token for /mcp that names the grant', async () => {
  const browser = await aBrowserOf(world, owner)
  const client = await aClient(world)
  const pkce = aPkce()
  const page = await asksFor(browser, authorizeUrl(world, { client, pkce, members: { scope: 'service:write' } }))
  const shown = (await browser.call(`GET ${page}/request`)).body
  assert.deepEqual(shown.client, { name: 'Test client', host: null })
  assert.deepEqual(shown.redirect, { host: '127.0.0.1', local: true })
  assert.equal(shown.asked_scope, 'service:write')
  assert.equal(shown.workspaces[0].scope, null)

  const back = await allows(browser, page, { scope: 'service:read', workspaceId: owner.workspaceId })
  assert.equal(`${back.origin}${back.pathname}`, REDIRECT)
  assert.equal(back.searchParams.get('state'), 'a state')
  assert.equal(back.searchParams.get('iss'), world.baseUrl)

  const { status, body } = await redeem(world, { client, code: back.searchParams.get('code') ?? '', pkce })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual([body.token_type, body.scope, body.expires_in], ['Bearer', 'service:read', 3600])
  const claims = claimsIn(body.access_token)
  assert.equal(claims['aud'], `${world.baseUrl}/mcp`)
  assert.equal(claims['iss'], world.baseUrl)
  assert.equal(claims['sub'], encodeId('user', owner.userId))
  assert.equal(claims['iat'], Math.floor(world.clock.now() / 1_000))
  assert.match(String(claims['grant']), /^wsp_.+\.agt_/)

  const headers = { authorization: `Bearer ${body.access_token}` }
  assert.equal((await ask(world, 'GET me', { headers })).status, 200)
  const { agents } = (await browser.call('GET agents')).body
  const agent = agents.find((one: { client_id: string }) => one.client_id === client)
  assert.equal(agent.scope, 'service:read')
  assert.equal(agent.redirect_host, '127.0.0.1')
  assert.equal(agent.last_call.route, 'me.get')
})

test('a person refuses: the client gets access_denied, and nothing is connected', async () => {
  const browser = await aBrowserOf(world, owner)
  const client = await aClient(world)
  const page = await asksFor(browser, authorizeUrl(world, { client }))
  const { next } = (await browser.call(`POST ${page}/request`, { decision: 'deny' })).body
  const back = await browser.call(`GET ${new URL(next).pathname}`)
  const location = new URL(back.headers.get('location') ?? '')
  assert.equal(location.searchParams.get('error'), 'access_denied')
  const { agents } = (await browser.call('GET agents')).body
  assert.ok(!agents.some((one: { client_id: string }) => one.client_id === client))
})

test('while the database is busy, the consent page reports that, and works afterwards', async () => {
  const browser = await aBrowserOf(world, owner)
  const page = await asksFor(browser, authorizeUrl(world, { client: await aClient(world) }))
  const busy = await whileLocked(database, 'oauth_entries', () => browser.call(`GET ${page}/request`))
  assert.deepEqual([busy.status, busy.body.reason], [503, 'overloaded'])
  assert.equal((await browser.call(`GET ${page}/request`)).status, 200)
})

test('widening, narrowing and revoking take effect on the next request, with the same token', async () => {
  const { headers, agent, client, tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  const browser = await aBrowserOf(world, owner)
  const create = () =>
    ask(world, 'POST rules', { headers, body: { name: `rule ${world.app.deps.uuid()}`, dataset: 'x' } })
  const refused = await create()
  assert.equal(refused.status, 403)
  assert.deepEqual(refused.body, {
    error: refused.body.error,
    reason: 'agent_scope_insufficient',
    code: 'agent_scope_insufficient',
    required_scope: 'service:write',
    granted_scopes: ['service:read'],
    manage_url: `${world.baseUrl}/settings/agents?${new URLSearchParams({ workspace: encodeId('workspace', owner.workspaceId), agent }).toString()}`,
  })
  const seen = (await browser.call(`GET agents/${agent}`)).body.agent.last_refusal
  assert.deepEqual(seen, {
    at: new Date(world.clock.now()).toISOString(),
    route: 'rules.create',
    reason: 'agent_scope_insufficient',
    required_scope: 'service:write',
  })

  assert.equal((await browser.call(`PATCH agents/${agent}`, { scope: 'service:write' })).status, 200)
  assert.equal((await create()).status, 201)
  assert.equal((await refresh(world, { client, token: tokens.refresh_token })).body.scope, 'service:read service:write')

  assert.equal((await browser.call(`PATCH agents/${agent}`, { scope: 'service:read' })).status, 200)
  assert.equal((await create()).body.reason, 'agent_scope_insufficient')

  assert.equal((await browser.call(`DELETE agents/${agent}`)).status, 200)
  const gone = await ask(world, 'GET me', { headers })
  assert.deepEqual([gone.status, gone.body.reason], [401, 'agent_revoked'])
  const again = (await browser.call(`GET agents/${agent}`)).body.agent
  assert.deepEqual([again.status, again.revoked_by], ['revoked', 'person'])
})

test('a change of scope is refused and not audited when the agent is revoked at the same time', async () => {
  const { agent } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  const id = decodeId('connectedAgent', agent) ?? ''
  const browser = await aBrowserOf(world, owner)
  const revocation = rowsGate(
    'the row of the agent',
    sql`update connected_agents set revoked_at = now(), revoked_by = 'person' where id = ${id}`,
  )
  const [answer] = await atGate(database, revocation, async (gate) => {
    const asked = browser.call(`PATCH agents/${agent}`, { scope: 'service:write' })
    await gate.waiting()
    return [asked] as const
  })
  const { status, body } = await answer
  assert.deepEqual([status, body.reason], [409, 'invalid_state'])
  const { audit } = (await browser.call(`GET audit?target=${agent}&action=update_agent`)).body
  assert.deepEqual(audit, [])
})

test('a refresh token works once; a second use ends the connection', async () => {
  const { headers, agent, client, tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  const first = await refresh(world, { client, token: tokens.refresh_token })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.notEqual(first.body.refresh_token, tokens.refresh_token)
  const again = await refresh(world, { client, token: tokens.refresh_token })
  assert.deepEqual([again.status, again.body.error], [400, 'invalid_grant'])
  assert.equal((await refresh(world, { client, token: first.body.refresh_token })).body.error, 'invalid_grant')
  assert.equal((await ask(world, 'GET me', { headers })).body.reason, 'agent_revoked')
  const browser = await aBrowserOf(world, owner)
  assert.equal((await browser.call(`GET agents/${agent}`)).body.agent.revoked_by, 'token_reused')
})

test('a client signs out by revoking its refresh token', async () => {
  const { headers, agent, client, tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  const revoked = await sendForm(world, 'revoke', { client_id: client, token: tokens.refresh_token })
  assert.equal(revoked.status, 200)
  assert.equal((await ask(world, 'GET me', { headers })).body.reason, 'agent_revoked')
  const browser = await aBrowserOf(world, owner)
  assert.equal((await browser.call(`GET agents/${agent}`)).body.agent.revoked_by, 'client')
})

test('an access token ends after an hour, and a refresh token after 30 days without use', async () => {
  const { headers, client, tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  world.clock.advance(3_600_000)
  const late = await ask(world, 'GET me', { headers })
  assert.deepEqual([late.status, late.body.reason], [401, 'access_token_invalid'])
  const next = await refresh(world, { client, token: tokens.refresh_token })
  assert.equal(next.status, 200)
  world.clock.advance(30 * 86_400_000)
  assert.equal((await refresh(world, { client, token: next.body.refresh_token })).body.error, 'invalid_grant')
})

test('the removal of a person revokes the agents that they connected', async () => {
  const member = await aMember(world, database, { workspaceId: owner.workspaceId, role: 'developer' })
  const { headers } = await aConnectedAgent(world, { member, scope: 'service:manage' })
  assert.equal((await ask(world, 'GET me', { headers })).body.role, 'developer')
  const browser = await aBrowserOf(world, owner)
  const removed = await browser.call(`DELETE members/${encodeId('user', member.userId)}`)
  assert.equal(removed.status, 200, removed.text)
  assert.equal((await ask(world, 'GET me', { headers })).body.reason, 'agent_revoked')
})
