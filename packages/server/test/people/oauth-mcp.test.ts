import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, REASONS, SERVICE_VERSION, type Scope } from '@postroad/contract'
import {
  Client,
  InsufficientScopeError,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client'
import type { Database } from '../../src/platform/db.ts'
import type { World } from '../stage/harness.ts'
import { call, connected, ERAS } from '../stage/mcp-client.ts'
import { aBrowserOf, aConnectedAgent, allows, asksFor, REDIRECT } from '../stage/oauth-stage.ts'
import { aMember, theWorkspace, type Member } from '../stage/people.ts'
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

/** A client program with the official library, which stores its registration and its tokens in memory. */
function aProgram() {
  const known: Record<string, unknown> = {}
  const visited: URL[] = []
  const provider = {
    get redirectUrl() {
      return REDIRECT
    },
    get clientMetadata() {
      return {
        client_name: 'Official client',
        redirect_uris: [REDIRECT],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'client_secret_basic',
      }
    },
    clientInformation: () => known['client'],
    saveClientInformation: (client: unknown) => void (known['client'] = client),
    tokens: () => known['tokens'],
    saveTokens: (tokens: unknown) => void (known['tokens'] = tokens),
    redirectToAuthorization: (url: URL) => void visited.push(url),
    saveCodeVerifier: (verifier: string) => void (known['verifier'] = verifier),
    codeVerifier: () => known['verifier'],
    discoveryState: () => known['discovery'],
    saveDiscoveryState: (state: unknown) => void (known['discovery'] = state),
  } as unknown as OAuthClientProvider
  return { provider, visited, known }
}

test('the official client connects by itself: it discovers, registers, sends the person to the consent page, and calls tools', async () => {
  const { provider, visited } = aProgram()
  const url = new URL(`${world.baseUrl}/mcp`)
  const first = new StreamableHTTPClientTransport(url, { authProvider: provider })
  await assert.rejects(new Client({ name: 'one', version: '1' }).connect(first), UnauthorizedError)
  const [sent] = visited
  assert.ok(sent)
  assert.equal(sent.searchParams.get('resource'), `${world.baseUrl}/mcp`)

  const browser = await aBrowserOf(world, owner)
  const page = await asksFor(browser, sent.pathname + sent.search)
  const back = await allows(browser, page, { scope: 'service:read', workspaceId: owner.workspaceId })
  await first.finishAuth(back.searchParams)

  const client = new Client({ name: 'one', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: provider }))
  const who = await call(client, 'whoami')
  assert.equal(who.isError, false)
  assert.deepEqual(who.answer.agent.scopes, ['service:read'])
  await client.close()
})

/** A tool call as bytes on the wire, or a batch of them. */
function sentAs(token: string, body: object): Promise<Response> {
  return fetch(`${world.baseUrl}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(body),
  })
}
const toolCall = (name: string, args: object = {}, id = 7): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
})

test('a tool above the scope is a 403 with the body of the contract and the challenge of the protocol', async () => {
  const { tokens, agent } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  const response = await sentAs(tokens.access_token, toolCall('endpoint_create', { no_such: 'argument' }))
  assert.equal(response.status, 403)
  assert.equal(response.headers.get('service-version'), SERVICE_VERSION)
  const search = `workspace=${encodeId('workspace', owner.workspaceId)}&agent=${agent}`
  const page = `${world.baseUrl}/settings/agents?${search}`
  assert.deepEqual(await response.json(), {
    error: REASONS.agent_scope_insufficient.text,
    reason: 'agent_scope_insufficient',
    code: 'agent_scope_insufficient',
    required_scope: 'service:write',
    granted_scopes: ['service:read'],
    manage_url: page,
  })
  assert.equal(
    response.headers.get('www-authenticate'),
    `Bearer error="insufficient_scope", scope="service:write", resource_metadata="${world.baseUrl}/.well-known/oauth-protected-resource/mcp", ` +
      `error_description="This needs service:write. Ask the user to widen the access of this agent at ${page}, then repeat the call."`,
  )
  const browser = await aBrowserOf(world, owner)
  const { last_refusal: refusal } = (await browser.call(`GET agents/${agent}`)).body.agent
  assert.deepEqual([refusal.route, refusal.reason], ['webhooks.create', 'agent_scope_insufficient'])
})

for (const era of ERAS)
  test(`the official client (${era}) gets the scope that a tool needs from its person, and repeats the call`, async () => {
    const { provider, visited } = aProgram()
    const url = new URL(`${world.baseUrl}/mcp`)
    const first = new StreamableHTTPClientTransport(url, { authProvider: provider })
    await assert.rejects(new Client({ name: 'steps up', version: '1' }).connect(first), UnauthorizedError)
    const browser = await aBrowserOf(world, owner)
    const allowed = async (scope: Scope): Promise<URLSearchParams> => {
      const sent = visited.pop()
      assert.ok(sent)
      const page = await asksFor(browser, sent.pathname + sent.search)
      assert.equal((await browser.call(`GET ${page}/request`)).body.asked_scope, scope)
      return (await allows(browser, page, { scope, workspaceId: owner.workspaceId })).searchParams
    }
    await first.finishAuth(await allowed('service:read'))

    const client = new Client({ name: 'steps up', version: '1' }, { versionNegotiation: { mode: era } })
    const transport = new StreamableHTTPClientTransport(url, { authProvider: provider })
    await client.connect(transport)
    const { answer } = await call(client, 'whoami')
    const made = { name: 'endpoint_create', arguments: { name: `made after a step up (${era})` } }
    await assert.rejects(client.callTool(made), UnauthorizedError)
    assert.equal(visited[0]?.searchParams.get('scope'), 'service:read service:write')
    await transport.finishAuth(await allowed('service:write'))
    assert.notEqual((await client.callTool(made)).isError, true)
    const after = await call(client, 'whoami')
    assert.deepEqual(
      [after.answer.agent.id, after.answer.agent.scopes],
      [answer.agent.id, ['service:read', 'service:write']],
      'the connection is the same one, with a wider grant',
    )
    await client.close()
  })

test('a client that cannot ask its person gets the page where the person widens the grant, and the next call works', async () => {
  for (const era of ERAS) {
    const { tokens, agent } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
    const client = await connected(world, { key: tokens.access_token, era })
    const { tools } = await client.listTools()
    assert.ok(
      tools.some(({ name }) => name === 'endpoint_create'),
      'an agent sees every tool',
    )
    const args = { name: `made by an agent (${era})` }
    await assert.rejects(client.callTool({ name: 'endpoint_create', arguments: args }), (error: unknown) => {
      assert.ok(error instanceof InsufficientScopeError, String(error))
      assert.equal(error.requiredScope, 'service:write')
      assert.match(
        error.errorDescription ?? '',
        new RegExp(`/settings/agents\\?workspace=wsp_\\w+&agent=${agent}, then`),
      )
      return true
    })

    const browser = await aBrowserOf(world, owner)
    await browser.call(`PATCH agents/${agent}`, { scope: 'service:write' })
    const made = await call(client, 'endpoint_create', args)
    assert.equal(made.isError, false, made.text)
    const [row] = (await browser.call('GET audit?limit=1')).body.audit
    assert.deepEqual(
      [row.actor, row.agent, row.action],
      [encodeId('user', owner.userId), `agent:${agent}`, 'create_webhook'],
    )
    await browser.call(`PATCH agents/${agent}`, { scope: 'service:read' })
    await assert.rejects(client.callTool({ name: 'endpoint_create', arguments: args }), InsufficientScopeError)
    await client.close()
  }
})

test('a refusal that a wider grant would not change is an answer that the model reads', async () => {
  const viewer = await aMember(world, database, { workspaceId: owner.workspaceId, role: 'viewer' })
  const { tokens } = await aConnectedAgent(world, { member: viewer, scope: 'service:read' })
  const client = await connected(world, { key: tokens.access_token })
  const { isError, answer } = await call(client, 'endpoint_create', { name: 'made by a viewer' })
  assert.deepEqual([isError, answer.reason, answer.manage_url], [true, 'insufficient_role', undefined])
  await client.close()
})

test('in a batch the refusal is the answer of its call, and the other calls run', async () => {
  const { tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  const response = await sentAs(tokens.access_token, [toolCall('whoami', {}, 1), toolCall('endpoint_create', {}, 2)])
  assert.equal(response.status, 200)
  const text = await response.text()
  const results = [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => JSON.parse(data))
  const byId = new Map(results.map(({ id, result }) => [id, result]))
  assert.equal(byId.get(1).structuredContent.agent.scopes[0], 'service:read')
  assert.deepEqual(
    [byId.get(2).isError, byId.get(2).structuredContent.reason],
    [true, 'agent_scope_insufficient'],
    text,
  )
})

test('a request with an expired token gets 401 with the address at which the client finds a new one', async () => {
  const { headers } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
  world.clock.advance(3_600_000)
  const answer = await fetch(`${world.baseUrl}/mcp`, { method: 'POST', headers })
  assert.equal(answer.status, 401)
  assert.equal(
    answer.headers.get('www-authenticate'),
    `Bearer error="invalid_token", resource_metadata="${world.baseUrl}/.well-known/oauth-protected-resource/mcp", scope="service:read"`,
  )
})
