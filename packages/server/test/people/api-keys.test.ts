import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { encodeId, type Role } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, signedIn } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 5, admin API keys: their creation and their list. */
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
const listed = async (id: string): Promise<Answer['body']> =>
  (await ask(world, 'GET api-keys?limit=200', { headers: owner })).body.api_keys.find(
    (one: { id: string }) => one.id === id,
  )
const aPerson = async (role: Role): Promise<Member & { readonly headers: Headers }> => {
  const member = await aMember(world, database, { ...home, role })
  return { ...member, headers: await signedIn(world, member) }
}

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

test('the key is returned once, at creation, and only its SHA-256 is stored', async () => {
  const answer = await create({ role: 'developer' })
  assert.deepEqual([answer.status, answer.headers.get('cache-control')], [201, 'no-store'])
  const { key, api_key } = answer.body
  assert.match(key, /^hk_[0-9A-Za-z]{43}$/)
  const { rows } = await everyRow()
  assert.ok(
    !rows.some((row) => row.includes(key) || row.includes(Buffer.from(key).toString('hex'))),
    'no table contains the key',
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

test('only a signed-in person can create a key: another key is refused, whatever its role, and so is a cookie from another page', async () => {
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

test('a key cannot have the role owner', async () => refused(await create({ role: 'owner' }), 400, 'invalid_request'))

test('a request for a key is validated: the expiry is in the future, and an allowlist has at most 64 addresses or ranges', async () => {
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

test('a project of another workspace gets the same answer as an unknown project', async () => {
  const foreign = await aWorkspace(world, database, 'project-elsewhere')
  const answers = [encodeId('project', foreign.defaultProjectId), encodeId('project', world.app.deps.uuid())].map(
    (project_id) => create({ project_id }),
  )
  const [theirs, unknown] = await Promise.all(answers)
  assert.ok(theirs !== undefined && unknown !== undefined)
  refused(theirs, 404, 'not_found')
  assert.deepEqual(theirs.body, unknown.body)
})

test('an Idempotency-Key is refused with 400, and no key is created', async () => {
  const had = await countKeys()
  refused(await create({}, { ...owner, 'idempotency-key': 'once' }), 400, 'idempotency_key_refused')
  assert.equal(await countKeys(), had)
})

async function countKeys(): Promise<number> {
  return (await database.one<{ count: number }>(sql`select count(*) as count from api_keys`)).count
}

test('creation is audited as create_api_key, with the rights of the key and never the key', async () => {
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
