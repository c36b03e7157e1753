import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encodeId, type Role } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 5, admin API keys, and their rows of the state table. */
let world: World
let database: Database
let home: Member & { readonly defaultProjectId: string }
let owner: Headers

onWorldStage(async (stage) => {
  ;({ world, database } = stage)
  home = await theWorkspace(database)
  owner = await signedIn(world, home)
})

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

// Making one

test('the key is returned once, at creation, and only its SHA-256 is stored', async () => {
  const answer = await create({ role: 'developer' })
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [201, 'no-store'])
  const { key, api_key } = answer.body
  assert.match(key, /^hk_[0-9A-Za-z]{43}$/)
  const { rows } = await everyRow()
  assert.ok(
    !rows.some((row) => row.includes(key) || row.includes(Buffer.from(key).toString('hex'))),
    'no table holds the key',
  )
  const hash = createHash('sha256').update(key).digest('hex')
  assert.equal(rows.filter((row) => row.includes(hash)).length, 1)
  const list = await ask(world, 'GET api-keys?limit=200', { headers: owner })
  assert.ok(!JSON.stringify(list.body).includes(key))
  assert.deepEqual(await listed(api_key.id), api_key)
})

async function everyRow(): Promise<{ readonly rows: readonly string[] }> {
  const tables = await database.many<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) =>
      database.many<{ row: string }>({ strings: [`select t::text as row from "${name}" t`], values: [] }),
    ),
  )
  return { rows: rows.flat().map(({ row }) => row) }
}

test('the list shows role, project, expiry, allowed IPs, creator, creation, last use, status and the first 11 characters', async () => {
  const expires_at = new Date(world.clock.now() + 86_400_000).toISOString()
  const project_id = encodeId('project', home.defaultProjectId)
  const { key, id } = await made({
    name: 'CI',
    role: 'viewer',
    project_id,
    expires_at,
    ip_allowlist: ['127.0.0.0/8', '2001:db8::1'],
  })
  assert.deepEqual(await listed(id), {
    id,
    name: 'CI',
    shown_prefix: key.slice(0, 11),
    role: 'viewer',
    project_id,
    expires_at,
    ip_allowlist: ['127.0.0.0/8', '2001:db8::1'],
    status: 'active',
    created_by: { id: encodeId('user', home.userId), name: 'Owner', is_member: true },
    created_at: new Date(world.clock.now()).toISOString(),
    last_used_at: null,
  })
})

test('only a person who is signed in can create a key: another key is refused, whatever its role and its creator', async () => {
  for (const role of ['viewer', 'developer', 'admin'] as const) {
    const answer = await create({ role: 'viewer' }, (await made({ role })).headers)
    refused(answer, 403, 'agent_not_permitted')
    assert.equal(answer.body.code, 'agent_not_permitted')
  }
  const { 'x-requested-with': _page, ...cookieAlone } = owner
  refused(await create({}, cookieAlone), 403, 'csrf_header_missing')
})

test('a key cannot have a higher role than its creator', async () => {
  const ranks = ['viewer', 'developer', 'admin', 'owner'] as const
  for (const [rank, own] of ranks.entries()) {
    const { headers } = await aPerson(own)
    for (const [wanted, role] of ranks.slice(0, 3).entries()) {
      const answer = await create({ role }, headers)
      if (wanted <= rank) assert.equal(answer.status, 201, `${own} makes ${role}`)
      else {
        refused(answer, 403, 'insufficient_role')
        assert.equal(answer.body.code, 'insufficient_role')
      }
    }
  }
})

test('there is no owner role for a key', async () => refused(await create({ role: 'owner' }), 400, 'invalid_request'))

test('what is asked for is checked: the expiry lies ahead, and an allowlist has at most 64 addresses or ranges', async () => {
  const ahead = new Date(world.clock.now() + 1).toISOString()
  assert.equal((await create({ expires_at: ahead })).status, 201)
  assert.equal((await create({ expires_at: null, project_id: null, ip_allowlist: [] })).body.api_key.expires_at, null)
  assert.equal(
    (await create({ ip_allowlist: Array.from({ length: 64 }, (_, index) => `10.0.0.${index}`) })).status,
    201,
  )
  const bad: object[] = [
    { expires_at: new Date(world.clock.now()).toISOString() },
    { expires_at: 'tomorrow' },
    { expires_at: 1 },
    { ip_allowlist: Array.from({ length: 65 }, (_, index) => `10.0.0.${index}`) },
    { ip_allowlist: ['10.0.0.0/33'] },
    { ip_allowlist: ['localhost'] },
    { ip_allowlist: null },
    { project_id: 'default' },
    { name: '' },
    { name: undefined },
    { role: undefined },
    { id: 'key_1' },
  ]
  for (const members of bad) refused(await create(members), 400, 'invalid_request')
})

test('a project of another workspace is answered as one that is not there', async () => {
  const foreign = await aWorkspace(world, database, 'project-elsewhere')
  const answers = [encodeId('project', foreign.defaultProjectId), encodeId('project', world.app.deps.uuid())].map(
    (project_id) => create({ project_id }),
  )
  const [theirs, unknown] = await Promise.all(answers)
  assert.ok(theirs !== undefined && unknown !== undefined)
  refused(theirs, 404, 'not_found')
  assert.deepEqual(theirs.body, unknown.body)
})

test('an Idempotency-Key is refused with 400, and no key is made', async () => {
  const had = await countKeys()
  refused(await create({}, { ...owner, 'idempotency-key': 'once' }), 400, 'idempotency_key_refused')
  assert.equal(await countKeys(), had)
})

async function countKeys(): Promise<number> {
  return (await database.one<{ count: number }>(sql`select count(*) as count from api_keys`)).count
}

test('creation is audited as create_api_key, with what the key may do and never the key', async () => {
  const { id, key } = await made({ name: 'Audited', role: 'developer', ip_allowlist: ['127.0.0.1'] })
  const row = (await auditRows('create_api_key')).at(-1)
  assert.deepEqual(
    [row?.actor, row?.agent, row?.target, row?.ip],
    [encodeId('user', home.userId), null, id, '127.0.0.1'],
  )
  assert.deepEqual(JSON.parse(row?.details ?? ''), {
    name: 'Audited',
    role: 'developer',
    project_id: null,
    expires_at: null,
    ip_allowlist: ['127.0.0.1'],
  })
  assert.ok(!row?.details.includes(key.slice(0, 11)))
})

// Using one

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

test('removing the creator stops the key, and the list says why', async () => {
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

test('a viewer key lists and reads; a developer key also changes what is in a project; an admin key also manages the workspace', async () => {
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

test('a key for one project reaches its project and /me; everything else is 403 and names the routes that it may use', async () => {
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

test('an expired key answers 401 from its moment on, and is listed as expired', async () => {
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

test('what a key changes is audited as its creator, with the agent api_key:<id>', async () => {
  const creator = await aPerson('developer')
  const key = await made({ role: 'developer' }, creator.headers)
  await ask(world, 'POST rules', { headers: key.headers, body: { name: aName('rule'), dataset: 'd' } })
  const row = (await auditRows('create_rule')).at(-1)
  assert.deepEqual([row?.actor, row?.agent], [encodeId('user', creator.userId), `api_key:${key.id}`])
})

// Where it may be used from

test('a request from outside a non-empty allowlist is 403 and audited as access_denied, as the creator with the key', async () => {
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
  assert.equal((await listed(outside.id)).last_used_at, null, 'a use that was refused is none')
  for (const ip_allowlist of [[], ['127.0.0.1'], ['::ffff:127.0.0.1'], ['10.0.0.1', '127.0.0.0/8'], ['0.0.0.0/0']]) {
    assert.equal((await me((await made({ ip_allowlist })).headers)).status, 200, String(ip_allowlist))
  }
  assert.equal((await auditRows('access_denied')).length, had + 1)
})

test('a forwarded address is believed from a trusted proxy only, and a key with an allowlist is refused when no address can be told', async (t) => {
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

// Revoking one

test('revoking takes an admin; the next request with the key is 401, on every node, and the row of the list stays', async (t) => {
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

test('an admin key may revoke keys, itself too', async () => {
  const key = await made()
  assert.equal((await ask(world, `DELETE api-keys/${key.id}`, { headers: key.headers })).status, 200)
  refused(await me(key.headers), 401, 'api_key_revoked')
})

test('a revoked key says so even when it has expired, and keys cannot be changed', async () => {
  const key = await aKeyOf(world, database, {
    ...home,
    expiresAt: new Date(world.clock.now() - 1),
    revokedAt: new Date(world.clock.now()),
  })
  refused(await me(key.headers), 401, 'api_key_revoked')
  for (const method of ['PATCH', 'PUT', 'POST'])
    assert.equal((await ask(world, `${method} api-keys/${key.id}`, { headers: owner, body: {} })).status, 405)
})

test('while the workspace is suspended no key is made, and keys are listed and revoked', async () => {
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
