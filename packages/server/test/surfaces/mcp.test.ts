import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, SERVICE_VERSION } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { call, connected, ERAS, message } from '../stage/mcp-client.ts'
import { whileLocked } from '../stage/meanwhile.ts'
import { aKeyOf, aMember, theWorkspace, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract parts 1, 5, 7, 8 and 9: the door of `/mcp`. */
let world: World
let database: Database
let home: Member & { readonly defaultProjectId: string }

onWorldStage(
  async (stage) => {
    ;({ world, database } = stage)
    home = await theWorkspace(database)
  },
  { loops: [] },
)

const SENT = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const LIST = { headers: { 'mcp-protocol-version': '2025-11-25' } }

const bodyOf = async (response: Response): Promise<Answer['body']> => response.json()

test('both eras connect with an admin API key alone, and learn how to use the server', async () => {
  for (const era of ERAS) {
    const client = await connected(world, { era })
    assert.deepEqual(
      [client.getServerVersion()?.name, client.getInstructions()?.includes('whoami')],
      ['postroad', true],
    )
    const { answer } = await call(client, 'whoami')
    assert.deepEqual([answer.role, answer.workspace.slug], ['admin', 'main'])
    await client.close()
  }
})

test('every response carries its version: answers, refusals, and paths and methods that do not exist', async () => {
  const url = `${world.baseUrl}/mcp`
  const key = `Bearer ${world.installed.api_key}`
  const heard = await Promise.all([
    message(world, 'tools/list', LIST),
    message(world, 'no/method', LIST),
    message(world, 'tools/list', { headers: { authorization: 'Bearer hk_wrong' } }),
    message(world, 'tools/list', { headers: { origin: 'https://evil.example' } }),
    message(world, 'tools/list', { headers: { 'service-version': '2020-01-01' } }),
    message(world, 'tools/list', { headers: { 'content-type': 'text/plain' } }),
    fetch(url, { headers: { authorization: key } }),
    fetch(url, { method: 'PUT', headers: { authorization: key } }),
    fetch(`${url}/nothing`, { headers: { authorization: key } }),
    fetch(url, { method: 'POST', headers: { authorization: key, ...SENT }, body: '{' }),
  ])
  assert.deepEqual(
    heard.map(({ status }) => status),
    [200, 200, 401, 403, 400, 415, 405, 405, 404, 400],
  )
  for (const { headers } of heard) {
    assert.equal(headers.get('service-version'), SERVICE_VERSION)
    assert.match(headers.get('request-id') ?? '', /^req_/)
  }
})

test('an unsupported Service-Version is refused with the list of the supported ones', async () => {
  const response = await message(world, 'tools/list', { headers: { 'service-version': '2020-01-01' } })
  assert.deepEqual((await bodyOf(response)).supported_versions, [SERVICE_VERSION])
  assert.equal(
    (await message(world, 'tools/list', { headers: { ...LIST.headers, 'service-version': SERVICE_VERSION } })).status,
    200,
  )
})

test('without a key that is valid now the answer is 401, and the cookie of the console is no credential here', async () => {
  const cookie = await signedIn(world, home)
  const expired = await aKeyOf(world, database, { ...home, expiresAt: new Date(world.clock.now() - 1) })
  const revoked = await aKeyOf(world, database, { ...home, revokedAt: new Date(world.clock.now()) })
  for (const [headers, reason] of [
    [{ authorization: '' }, 'unauthorized'],
    [{ authorization: 'Basic eDp5' }, 'unauthorized'],
    [{ authorization: 'Bearer ik_live_x' }, 'unauthorized'],
    [expired.headers, 'api_key_expired'],
    [revoked.headers, 'api_key_revoked'],
  ] as const) {
    const response = await message(world, 'tools/list', { headers: { ...headers } })
    assert.deepEqual([response.status, (await bodyOf(response)).reason], [401, reason])
    assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/)
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const type = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const byCookie = await fetch(`${world.baseUrl}/mcp`, { method: 'POST', headers: { ...type, ...cookie }, body })
  assert.deepEqual([byCookie.status, (await bodyOf(byCookie)).reason], [401, 'unauthorized'])
})

test('pages of other origins are refused before the key is read; this server and the local machine are allowed', async () => {
  for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null', 'http://10.0.0.5']) {
    const response = await message(world, 'tools/list', { headers: { origin, authorization: 'Bearer hk_wrong' } })
    assert.deepEqual([response.status, (await bodyOf(response)).reason], [403, 'origin_not_allowed'], origin)
    assert.equal(response.headers.get('access-control-allow-origin'), null)
  }
  for (const origin of [new URL(world.baseUrl).origin, 'http://localhost:6274', 'http://[::1]:6274', undefined]) {
    const response = await message(world, 'tools/list', {
      headers: { ...LIST.headers, ...(origin === undefined ? {} : { origin }) },
    })
    assert.equal(response.status, 200, origin)
    assert.equal(response.headers.get('access-control-allow-origin'), origin ?? null)
  }
  const preflight = await fetch(`${world.baseUrl}/mcp`, {
    method: 'OPTIONS',
    headers: { origin: 'http://localhost:6274' },
  })
  assert.equal(preflight.status, 204)
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Authorization.*Mcp-Method/)
  assert.equal(
    (await fetch(`${world.baseUrl}/mcp`, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } })).status,
    403,
  )
})

test('the admin API and /mcp share the rate of a credential, and the 429 is a JSON-RPC error with code -32029', async () => {
  const limited = await aWorld({ beside: world, env: { ADMIN_REQUESTS_MAX: '4' } })
  try {
    assert.equal((await limited.admin('GET', 'me')).status, 200)
    assert.equal((await message(limited, 'tools/list', LIST)).status, 200)
    assert.equal((await message(limited, 'tools/call', { ...LIST, params: { name: 'whoami' } })).status, 200)
    assert.equal((await limited.admin('GET', 'me')).status, 200)
    const response = await message(limited, 'tools/list', LIST)
    assert.deepEqual([response.status, response.headers.get('retry-after')], [429, '10'])
    assert.equal(response.headers.get('service-version'), SERVICE_VERSION)
    const { jsonrpc, id, error } = await bodyOf(response)
    assert.deepEqual([jsonrpc, id, error.code, error.data.retry_after], ['2.0', 7, -32_029, 10])
    assert.equal((await limited.admin('GET', 'me')).status, 429)
    limited.clock.advance(10_000)
    assert.equal((await message(limited, 'tools/list', LIST)).status, 200)
  } finally {
    await limited.stop()
  }
})

test('each message of a batch counts as a request, and a batch has at most 20', async () => {
  const limited = await aWorld({ beside: world, env: { ADMIN_REQUESTS_MAX: '10' } })
  const batch = (count: number): Promise<Response> =>
    fetch(`${limited.baseUrl}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${limited.installed.api_key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(
        Array.from({ length: count }, (_, id) => ({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: { name: 'whoami' },
        })),
      ),
    })
  try {
    const many = await batch(21)
    assert.deepEqual([many.status, (await bodyOf(many)).reason], [400, 'invalid_request'])
    assert.equal((await batch(6)).status, 200)
    assert.equal((await batch(6)).status, 429)
  } finally {
    await limited.stop()
  }
})

/** The names of the tools that a key with this role sees. */
async function toolsOf(role: 'viewer' | 'developer' | 'admin'): Promise<ReadonlySet<string>> {
  const client = await connected(world, { key: (await aKeyOf(world, database, { ...home, role })).key })
  const { tools } = await client.listTools()
  await client.close()
  assert.ok(role !== 'viewer' || tools.every(({ annotations }) => annotations?.readOnlyHint === true))
  return new Set(tools.map(({ name }) => name))
}

test('a key sees the tools that its role reaches, and a call of another one is refused as in the admin API', async () => {
  const [viewer, developer, admin] = [await toolsOf('viewer'), await toolsOf('developer'), await toolsOf('admin')]
  assert.deepEqual(
    [viewer.has('events_search'), viewer.has('rule_create'), viewer.has('audit_list')],
    [true, false, false],
  )
  assert.deepEqual([developer.has('rule_create'), developer.has('audit_list')], [true, false])
  assert.deepEqual([admin.has('rule_create'), admin.has('audit_list')], [true, true])
  const client = await connected(world, { key: (await aKeyOf(world, database, { ...home, role: 'viewer' })).key })
  const { isError, answer } = await call(client, 'rule_create', { name: 'Mine', dataset: 'mine' })
  assert.deepEqual([isError, answer.reason, answer.code], [true, 'insufficient_role', 'insufficient_role'])
  assert.match(answer.next_step, /^Do not repeat/)
  await client.close()
})

test('a key is limited by the role that its creator has now', async () => {
  const creator = await aMember(world, database, { workspaceId: home.workspaceId, role: 'viewer' })
  const client = await connected(world, { key: (await aKeyOf(world, database, { ...creator, role: 'admin' })).key })
  assert.equal(
    (await call(client, 'rule_create', { name: 'Mine', dataset: 'mine' })).answer.reason,
    'insufficient_role',
  )
  await database.run(sql`delete from members where user_id = ${creator.userId}`)
  await assert.rejects(client.listTools(), /no longer in the workspace/)
  await client.close()
})

test('a key for one project acts in its project without naming it, and sees only the tools of projects', async () => {
  const { id } = (await world.admin('POST', 'projects', { name: 'Other' })).body.project
  const { project } = (await world.admin('GET', `projects/${id}`)).body
  const uuid = (await database.one<{ id: string }>(sql`select id from projects where slug = ${project.slug}`)).id
  const client = await connected(world, { key: (await aKeyOf(world, database, { ...home, projectId: uuid })).key })
  const { answer } = await call(client, 'rule_create', { name: 'Of the other', dataset: 'others' })
  const mine = await world.admin('GET', `projects/${id}/rules/${answer.rule.id}`)
  assert.equal(mine.status, 200)
  assert.equal((await call(client, 'whoami')).answer.api_key.project_id, id)
  const names = (await client.listTools()).tools.map(({ name }) => name)
  assert.deepEqual(
    [names.includes('projects_list'), names.includes('overview'), names.includes('senders_list')],
    [false, false, true],
  )
  const refused = await call(client, 'projects_list')
  assert.deepEqual([refused.isError, refused.answer.reason], [true, 'project_out_of_scope'])
  const elsewhere = await call(client, 'rules_list', { project_id: encodeId('project', home.defaultProjectId) })
  assert.deepEqual([elsewhere.isError, elsewhere.answer.reason], [true, 'project_out_of_scope'])
  await client.close()
})

test('a key with an allowlist is refused from another address, and the refusal is audited', async () => {
  const { headers, id } = await aKeyOf(world, database, { ...home, ips: ['203.0.113.7'] })
  const response = await message(world, 'tools/list', { headers: { ...headers } })
  assert.deepEqual([response.status, (await bodyOf(response)).reason], [403, 'ip_not_allowed'])
  const row = await database.one<{ target: string }>(
    sql`select target from audit_rows where action = 'access_denied' order by id desc limit 1`,
  )
  assert.equal(row.target, id)
})

test('a change through a tool has the same audit row as through the admin API', async () => {
  const client = await connected(world)
  const { answer } = await call(client, 'rule_create', { name: 'By a tool', dataset: 'same' })
  const { body } = await world.admin('POST', 'rules', { name: 'By a request', dataset: 'same' })
  const rows = await database.many<{ actor: string; agent: string; ip: string; action: string }>(
    sql`select actor, agent, ip, action from audit_rows where target = any(${[answer.rule.id, body.rule.id]}) order by id`,
  )
  assert.equal(rows.length, 2)
  assert.deepEqual(rows[0], rows[1])
  assert.match(rows[0]?.agent ?? '', /^api_key:key_/)
  await client.close()
})

test('while the workspace is suspended, tools that change something are refused and the others answer', async () => {
  const client = await connected(world)
  await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
  try {
    assert.equal((await call(client, 'events_search')).isError, false)
    const { isError, answer } = await call(client, 'rule_create', { name: 'Late', dataset: 'late' })
    assert.deepEqual([isError, answer.reason], [true, 'workspace_suspended'])
  } finally {
    await database.run(sql`update workspaces set suspended_at = null where id = ${home.workspaceId}`)
  }
  await client.close()
})

test('a tool or prompt that does not exist, and a message that is nested too deep, are refused', async () => {
  const client = await connected(world)
  await assert.rejects(client.callTool({ name: 'no_tool', arguments: {} }), /There is no such tool/)
  await assert.rejects(client.getPrompt({ name: 'no_prompt' }), /There is no such prompt/)
  await assert.rejects(client.getPrompt({ name: 'add_sender' }), /needs the argument sender/)
  await assert.rejects(client.readResource({ uri: 'postroad://docs/nothing' }), /not found/i)
  await client.close()
  const deep = await fetch(`${world.baseUrl}/mcp`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.installed.api_key}`, 'content-type': 'application/json' },
    body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
  })
  assert.deepEqual([deep.status, (await bodyOf(deep)).reason], [400, 'invalid_request'])
})

test('a call that the database cannot serve at the moment reports that, with the time to wait', async () => {
  const client = await connected(world)
  const busy = whileLocked(database, 'rules', () => client.callTool({ name: 'rules_list', arguments: {} }))
  await assert.rejects(busy, (error: unknown) => {
    const { data } = error as { readonly data?: Answer['body'] }
    assert.deepEqual([data?.reason, data?.retry_after], ['overloaded', 1])
    return true
  })
  const { answer } = await call(client, 'rules_list')
  assert.ok(Array.isArray(answer.rules))
  await client.close()
})

test('the documentation and the story of an event are resources', async () => {
  const client = await connected(world)
  const { resources } = await client.listResources()
  assert.ok(resources.some(({ uri }) => uri === 'postroad://docs/verify'))
  for (const { uri, description = '' } of resources) {
    const { contents } = await client.readResource({ uri })
    const [content] = contents
    assert.ok(content !== undefined && 'text' in content && content.text.startsWith('#'), uri)
    assert.ok(description.length > 10, uri)
  }
  const posted = await fetch(world.endpoint, { method: 'POST', body: '{"n":1}' })
  const { records } = await bodyOf(posted)
  const { contents } = await client.readResource({ uri: `postroad://events/${records[0].id}` })
  const [content] = contents
  assert.ok(content !== undefined && 'text' in content)
  assert.equal(JSON.parse(content.text).records[0].id, records[0].id)
  await client.close()
})

test('the prompts lead through the tools, and an argument is a value in quotes', async () => {
  const client = await connected(world)
  const names = new Set((await client.listTools()).tools.map(({ name }) => name))
  const { prompts } = await client.listPrompts()
  for (const { name, arguments: args = [] } of prompts) {
    const given = Object.fromEntries(args.map((arg) => [arg.name, 'a "b"\nc']))
    const { messages } = await client.getPrompt({ name, arguments: given })
    const [first] = messages
    const text = first?.content.type === 'text' ? first.content.text : ''
    assert.ok(text.includes(String.raw`"a \"b\"\nc"`), text)
    const called = [...text.matchAll(/[Cc]all(?: |ing )([a-z]+_[a-z_]+)/g)].map(([, tool = '']) => tool)
    assert.ok(called.length > 1)
    assert.deepEqual(
      called.filter((tool) => !names.has(tool)),
      [],
    )
  }
  await client.close()
})
