import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, type Role } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Contract part 5, admin API keys: their use, their allowed addresses and their end, and their rows of the state table.
 */
let world: World
let database: Database
let home: Member & { readonly defaultProjectId: string }
let owner: Headers

onWorldStage(
  async (stage) => {
    ;({ world, database } = stage)
    home = await theWorkspace(database)
    owner = await signedIn(world, home)
  },
  { loops: [] },
)

const create = (body: object = {}, headers: Headers = owner): Promise<Answer> =>
  ask(world, 'POST api-keys', { headers, body: { name: aName('key'), role: 'admin', ...body } })

type Made = { readonly id: string; readonly key: string; readonly headers: Headers; readonly api_key: Answer['body'] }

async function made(body: object = {}, headers: Headers = owner): Promise<Made> {
  const answer = await create(body, headers)
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  const { api_key, key } = answer.body
  return { id: api_key.id, key, api_key, headers: { authorization: `Bearer ${key}` } }
}

const me = (headers: Headers, at: World = world): Promise<Answer> => ask(at, 'GET me', { headers })
const listed = async (id: string): Promise<Answer['body']> =>
  (await ask(world, 'GET api-keys?limit=200', { headers: owner })).body.api_keys.find(
    (one: { id: string }) => one.id === id,
  )
const aPerson = async (role: Role): Promise<Member & { readonly headers: Headers }> => {
  const member = await aMember(world, database, { ...home, role })
  return { ...member, headers: await signedIn(world, member) }
}
const setRole = (member: Member, role: Role): Promise<number> =>
  database.run(
    sql`update members set role = ${role} where workspace_id = ${member.workspaceId} and user_id = ${member.userId}`,
  )

function refused(answer: Answer, status: number, reason: string): void {
  assert.deepEqual([answer.status, answer.body.reason], [status, reason], JSON.stringify(answer.body))
  assert.match(answer.body.error, /^\S.{10,}\.$/s)
}

type AuditRow = {
  readonly actor: string
  readonly agent: string | null
  readonly action: string
  readonly target: string
  readonly ip: string | null
  readonly details: string
}
const auditRows = (action: string): Promise<readonly AuditRow[]> =>
  database.many<AuditRow>(
    sql`select actor, agent, action, target, ip, details from audit_rows where workspace_id = ${home.workspaceId} and action = ${action} order by id`,
  )

// Using a key

test('a key acts as its creator, capped at its role and, on each request, at the role that the creator has then', async () => {
  const creator = await aPerson('admin')
  const key = await made({ role: 'developer' }, creator.headers)
  const roleNow = async (): Promise<string> => (await me(key.headers)).body.role
  assert.deepEqual(
    [(await me(key.headers)).body.user.id, await roleNow()],
    [encodeId('user', creator.userId), 'developer'],
  )
  await setRole(creator, 'viewer')
  assert.equal(await roleNow(), 'viewer')
  refused(
    await ask(world, 'POST datasets', { headers: key.headers, body: { name: 'demoted' } }),
    403,
    'insufficient_role',
  )
  await setRole(creator, 'owner')
  assert.equal(await roleNow(), 'developer')
})

test('removing the creator disables the key, and the list shows that the creator is no longer a member', async () => {
  const creator = await aPerson('admin')
  const key = await made({ role: 'admin' }, creator.headers)
  assert.equal((await ask(world, 'GET rules', key)).status, 200)
  await database.run(
    sql`delete from members where workspace_id = ${creator.workspaceId} and user_id = ${creator.userId}`,
  )
  refused(await ask(world, 'GET rules', key), 401, 'unauthorized')
  assert.deepEqual((await listed(key.id)).created_by, {
    id: encodeId('user', creator.userId),
    name: 'Somebody',
    is_member: false,
  })
})

test('a viewer key lists and reads; a developer key also changes resources in a project; an admin key also manages the workspace', async () => {
  for (const [line, body, allowed] of [
    ['GET webhooks', undefined, ['viewer', 'developer', 'admin']],
    ['POST rules', { name: 'x', dataset: '?' }, ['developer', 'admin']],
    ['POST projects', { name: '' }, ['admin']],
  ] as const) {
    for (const role of ['viewer', 'developer', 'admin'] as const) {
      const { status } = await ask(world, line, { headers: (await made({ role })).headers, body })
      if (allowed.some((one) => one === role)) assert.ok(status !== 403, `${role} ${line}`)
      else assert.equal(status, 403, `${role} ${line}`)
    }
  }
})

test('a key for one project reaches its project and /me; every other route answers 403 and names the routes that the key may use', async () => {
  const { body } = await ask(world, 'POST projects', { headers: owner, body: { name: aName('project') } })
  const own = body.project.id
  const { headers } = await made({ role: 'admin', project_id: own })
  assert.deepEqual((await me(headers)).body.api_key.project_id, own)
  assert.equal((await ask(world, `POST projects/${own}/datasets`, { headers, body: { name: 'mine' } })).status, 201)
  const elsewhere = [
    'GET projects',
    `GET projects/${own}`,
    `GET projects/${world.installed.project.id}/rules`,
    `GET projects/${encodeId('project', world.app.deps.uuid())}/rules`,
    'GET projects/nonsense/rules',
    'GET rules',
    'GET api-keys',
    'POST projects',
    'GET stream',
  ]
  for (const line of elsewhere) {
    const answer = await ask(world, line, { headers, ...(line.startsWith('POST') ? { body: {} } : {}) })
    refused(answer, 403, 'project_out_of_scope')
    assert.match(answer.body.error, new RegExp(`/admin/api/projects/${own}/….*/admin/api/me`), line)
  }
})

test('a key gets 401 from its expiry on, and is listed as expired', async () => {
  const key = await made({ expires_at: new Date(world.clock.now() + 60_000).toISOString() })
  world.clock.advance(59_999)
  assert.equal((await me(key.headers)).status, 200)
  world.clock.advance(1)
  refused(await me(key.headers), 401, 'api_key_expired')
  assert.equal((await listed(key.id)).status, 'expired')
})

test('the last use is written at most once a minute', async () => {
  const key = await made()
  const seen = async (): Promise<string | null> => (await listed(key.id)).last_used_at
  assert.equal(await seen(), null)
  const first = new Date(world.clock.now()).toISOString()
  await me(key.headers)
  assert.equal(await seen(), first)
  world.clock.advance(59_999)
  await me(key.headers)
  assert.equal(await seen(), first)
  world.clock.advance(1)
  await me(key.headers)
  assert.equal(await seen(), new Date(world.clock.now()).toISOString())
})

test('a change by a key is audited as its creator, with the agent api_key:<id>', async () => {
  const creator = await aPerson('developer')
  const key = await made({ role: 'developer' }, creator.headers)
  await ask(world, 'POST rules', { headers: key.headers, body: { name: aName('rule'), dataset: 'd' } })
  const row = (await auditRows('create_rule')).at(-1)
  assert.deepEqual([row?.actor, row?.agent], [encodeId('user', creator.userId), `api_key:${key.id}`])
})

// Allowed addresses

test('a request from outside a non-empty allowlist gets 403 and is audited as access_denied, as the creator with the key', async () => {
  const outside = await made({ ip_allowlist: ['203.0.113.0/24', '2001:db8::/32'] })
  const had = (await auditRows('access_denied')).length
  refused(await me(outside.headers), 403, 'ip_not_allowed')
  const rows = (await auditRows('access_denied')).slice(had)
  assert.deepEqual(rows, [
    {
      action: 'access_denied',
      actor: encodeId('user', home.userId),
      agent: `api_key:${outside.id}`,
      target: outside.id,
      ip: '127.0.0.1',
      details: '{"reason":"ip_not_allowed"}',
    },
  ])
  assert.equal((await listed(outside.id)).last_used_at, null, 'a rejected request does not count as a use')
  for (const ip_allowlist of [[], ['127.0.0.1'], ['::ffff:127.0.0.1'], ['10.0.0.1', '127.0.0.0/8'], ['0.0.0.0/0']]) {
    assert.equal((await me((await made({ ip_allowlist })).headers)).status, 200, String(ip_allowlist))
  }
  assert.equal((await auditRows('access_denied')).length, had + 1)
})

test('a forwarded address counts only from a trusted proxy, and a key with an allowlist is refused when no address can be determined', async (t) => {
  const proxied = await aWorld({ beside: world, env: { TRUST_PROXY: '127.0.0.1' } })
  t.after(() => proxied.stop())
  const { headers } = await made({ ip_allowlist: ['203.0.113.7'] })
  const open = await made()
  const from = (address: string, at: World, of: Headers = headers): Promise<Answer> =>
    me({ ...of, 'x-forwarded-for': address }, at)
  refused(await from('203.0.113.7', world), 403, 'ip_not_allowed')
  assert.equal((await from('203.0.113.7', proxied)).status, 200)
  refused(await from('203.0.113.7, 198.51.100.1', proxied), 403, 'ip_not_allowed')
  refused(await from('unknown', proxied), 403, 'ip_not_allowed')
  assert.equal((await auditRows('access_denied')).at(-1)?.ip, null)
  assert.equal(
    (await from('unknown', proxied, open.headers)).status,
    200,
    'a key without an allowlist needs no address',
  )
})

// Revoking a key

test('revoking requires the admin role; the next request with the key gets 401 on every node, and the row stays in the list', async (t) => {
  const other = await aWorld({ beside: world })
  t.after(() => other.stop())
  const key = await made()
  for (const role of ['viewer', 'developer'] as const)
    refused(
      await ask(world, `DELETE api-keys/${key.id}`, { headers: (await aPerson(role)).headers }),
      403,
      'insufficient_role',
    )
  assert.equal((await me(key.headers, other)).status, 200)
  const admin = await aPerson('admin')
  const revoked = await ask(world, `DELETE api-keys/${key.id}`, { headers: admin.headers })
  assert.deepEqual([revoked.status, revoked.body], [200, { ok: true }])
  for (const at of [world, other]) refused(await me(key.headers, at), 401, 'api_key_revoked')
  assert.equal((await listed(key.id)).status, 'revoked')
  const rows = (await auditRows('revoke_api_key')).filter(({ target }) => target === key.id)
  assert.deepEqual(
    rows.map(({ actor, agent }) => [actor, agent]),
    [[encodeId('user', admin.userId), null]],
  )
  assert.equal(
    (await ask(world, `DELETE api-keys/${key.id}`, { headers: owner })).status,
    200,
    'to revoke it again changes nothing',
  )
  assert.equal((await auditRows('revoke_api_key')).filter(({ target }) => target === key.id).length, 1)
})

test('an admin key may revoke keys, also itself', async () => {
  const key = await made()
  assert.equal((await ask(world, `DELETE api-keys/${key.id}`, { headers: key.headers })).status, 200)
  refused(await me(key.headers), 401, 'api_key_revoked')
})

test('a revoked key is reported as revoked even when it has expired, and keys cannot be changed', async () => {
  const key = await aKeyOf(world, database, {
    ...home,
    expiresAt: new Date(world.clock.now() - 1),
    revokedAt: new Date(world.clock.now()),
  })
  refused(await me(key.headers), 401, 'api_key_revoked')
  for (const method of ['PATCH', 'PUT', 'POST'])
    assert.equal((await ask(world, `${method} api-keys/${key.id}`, { headers: owner, body: {} })).status, 405)
})

test('while the workspace is suspended no key can be created, and keys can be listed and revoked', async () => {
  const key = await made()
  await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
  try {
    refused(await create(), 403, 'workspace_suspended')
    assert.equal((await ask(world, 'GET api-keys', { headers: key.headers })).status, 200)
    assert.equal((await ask(world, `DELETE api-keys/${key.id}`, { headers: owner })).status, 200)
  } finally {
    await database.run(sql`update workspaces set suspended_at = null where id = ${home.workspaceId}`)
  }
  refused(await me(key.headers), 401, 'api_key_revoked')
})
