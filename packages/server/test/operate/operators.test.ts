import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeId, routes, type Route } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The operators of the installation, and the routes that no other caller may use (contract part 5, docs/adr/0130). */
let world: World
let database: Database
let home: Member
let owner: Headers

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    home = await theWorkspace(database)
    owner = await signedIn(world, home)
  },
  { env: { ROLES: 'web', OPERATORS: 'Ada@Example.com, grace@example.com' }, loops: [] },
)

const OPERATORS_ROUTES = Object.entries(routes).flatMap(([room, verbs]) =>
  Object.entries<Route>(verbs).flatMap(([verb, route]) =>
    route.operator === true ? [{ name: `${room}.${verb}`, route }] : [],
  ),
)

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const list = (headers: Headers, at = world): Promise<Answer> => ask(at, 'GET platform/workspaces', { headers })
const giveAddress = (userId: string, email: string | null): Promise<number> =>
  database.run(sql`update users set email = ${email} where id = ${userId}`)

let made = 0

async function anOperator(): Promise<Member & { readonly headers: Headers; readonly email: string }> {
  made += 1
  const member = await aWorkspace(world, database, `of-operator-${made}`)
  await database.run(sql`update users set email = null where lower(email) = 'ada@example.com'`)
  await giveAddress(member.userId, 'ADA@example.com')
  return { ...member, headers: await signedIn(world, member), email: 'ada@example.com' }
}

describe('an operator', () => {
  test('a person with a proven address of OPERATORS is an operator, in upper or lower case', async () => {
    const { headers } = await anOperator()
    assert.equal(said(await list(headers)), '200')
    assert.equal((await ask(world, 'GET me', { headers })).body.operator, true)
  })

  test('the server checks the address at each request, so the right ends with the address', async () => {
    const { headers, userId } = await anOperator()
    assert.equal(said(await list(headers)), '200')
    await giveAddress(userId, 'other@example.com')
    assert.equal(said(await list(headers)), '403 insufficient_role')
    await giveAddress(userId, null)
    assert.equal(said(await list(headers)), '403 insufficient_role')
    assert.equal((await ask(world, 'GET me', { headers })).body.operator, false)
  })

  test('needs no role in any workspace, and no workspace at all', async () => {
    const operator = await anOperator()
    await database.run(sql`update members set role = 'viewer' where user_id = ${operator.userId}`)
    assert.equal(said(await list(operator.headers)), '200')
    await database.run(sql`delete from members where user_id = ${operator.userId}`)
    assert.equal(said(await ask(world, 'GET projects', operator)), '403 no_workspace')
    assert.equal(said(await list(operator.headers)), '200')
    const { body } = await ask(world, 'POST platform/broadcasts', {
      headers: operator.headers,
      body: { title: 'x', text: 'y' },
    })
    assert.equal(body.broadcast.created_by, encodeId('user', operator.userId))
  })

  test('can act while their own workspace is suspended or closed', async () => {
    const operator = await anOperator()
    const path = `platform/workspaces/${encodeId('workspace', operator.workspaceId)}`
    const { headers } = operator
    assert.equal(said(await ask(world, `POST ${path}/suspend`, { headers, body: { reason: 'x' } })), '200')
    assert.equal(said(await ask(world, 'POST rules', { headers, body: {} })), '403 workspace_suspended')
    assert.equal(said(await ask(world, `PUT ${path}/plan`, { headers, body: { plan: 'free' } })), '200')
    assert.equal(said(await ask(world, `POST ${path}/reinstate`, { headers })), '200')
    await database.run(sql`update workspaces set closed_at = now() where id = ${operator.workspaceId}`)
    assert.equal(said(await ask(world, `PUT ${path}/plan`, { headers, body: { plan: 'team' } })), '200')
  })

  test('every other person gets 403 insufficient_role, whatever their role, and the error names the remedy', async () => {
    for (const { name, route } of OPERATORS_ROUTES) {
      const path = route.path.replaceAll(/\{\w+\}/g, 'x')
      const answer = await ask(world, `${route.method} ${path}`, {
        headers: owner,
        ...(route.method === 'GET' ? {} : { body: {} }),
      })
      assert.deepEqual([said(answer), answer.body.code], ['403 insufficient_role', 'insufficient_role'], name)
      assert.match(answer.body.error, /^Insufficient role\. Only an operator .* OPERATORS\.$/, name)
    }
  })

  test('no key is an operator, not even one that an operator created: the refusal is agent_not_permitted', async () => {
    const operator = await anOperator()
    const { headers } = await aKeyOf(world, database, operator)
    for (const { name, route } of OPERATORS_ROUTES) {
      const path = route.path.replaceAll(/\{\w+\}/g, 'x')
      const answer = await ask(world, `${route.method} ${path}`, {
        headers,
        ...(route.method === 'GET' ? {} : { body: {} }),
      })
      assert.deepEqual([said(answer), answer.body.code], ['403 agent_not_permitted', 'agent_not_permitted'], name)
    }
    assert.equal((await ask(world, 'GET me', { headers })).body.operator, false)
  })
})

test('without OPERATORS the owner is the operator while one person owns every workspace; with two owners nobody is', async (t) => {
  const own = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  t.after(() => own.stop())
  const behindIt = own.app.deps.database
  const only = await theWorkspace(behindIt)
  const headers = await signedIn(own, only)
  assert.equal(said(await list(headers, own)), '200')
  const admin = await signedIn(own, await aMember(own, behindIt, { ...only, role: 'admin' }))
  assert.equal(said(await list(admin, own)), '403 insufficient_role')
  const second = await aWorkspace(own, behindIt, 'second')
  for (const who of [headers, await signedIn(own, second)])
    assert.equal(said(await list(who, own)), '403 insufficient_role')
  await behindIt.run(sql`update members set role = 'admin' where user_id = ${second.userId}`)
  assert.equal(said(await list(headers, own)), '200')
})

test('without OPERATORS, a person who owns only an account that an agent registered is never the operator', async (t) => {
  const own = await aWorld({ env: { ROLES: 'web' }, loops: [] })
  t.after(() => own.stop())
  const behindIt = own.app.deps.database
  const { workspaceId, userId } = await aWorkspace(own, behindIt, 'claimed')
  await behindIt.run(sql`
    insert into agent_accounts (workspace_id, id, user_id, name, terms_version, created_at, claimed_at, claimed_by)
    values (${workspaceId}, ${own.app.deps.uuid()}, ${userId}, 'A bot', '1', now(), now(), ${userId})
  `)
  const headers = await signedIn(own, { workspaceId, userId })
  assert.equal(said(await list(await signedIn(own, await theOwner(behindIt)), own)), '200')
  assert.equal(said(await list(headers, own)), '403 insufficient_role')
  // The state after every other workspace was closed.
  await behindIt.run(sql`delete from members where workspace_id <> ${workspaceId}`)
  assert.equal(said(await list(headers, own)), '403 insufficient_role')
})

/** The owner of the workspace that bootstrap created. */
async function theOwner(behindIt: Database): Promise<Member> {
  const found = await behindIt.one<{ workspace_id: string; user_id: string }>(sql`
    select m.workspace_id, m.user_id
      from members m
      join workspaces w on w.id = m.workspace_id
     where w.slug = 'main'
       and m.role = 'owner'
  `)
  return { workspaceId: found.workspace_id, userId: found.user_id }
}

test('the server does not start unless OPERATORS is a list of addresses, and its error names the setting', async () => {
  for (const OPERATORS of ['nobody', 'ada@example.com;grace@example.com x', '@'])
    await assert.rejects(aWorld({ env: { OPERATORS }, loops: [] }), /OPERATORS must be a comma-separated list/)
})

describe('the changes of operators', () => {
  test('a change to a workspace is in its audit log, with the operator as the actor and without their address', async () => {
    const operator = await anOperator()
    const [target, { headers }] = [await aWorkspace(world, database, `target-${made}`), operator]
    const path = `platform/workspaces/${encodeId('workspace', target.workspaceId)}`
    await ask(world, `POST ${path}/suspend`, { headers, body: { reason: 'unpaid since May' } })
    await ask(world, `POST ${path}/reinstate`, { headers })
    await ask(world, `PUT ${path}/plan`, { headers, body: { plan: 'team' } })
    const { audit } = (await ask(world, 'GET audit', { headers: await signedIn(world, target) })).body
    const rows = audit.filter((row: { agent: string | null }) => row.agent === 'operator')
    const actor = encodeId('user', operator.userId)
    assert.deepEqual(
      rows.map((row: Record<string, unknown>) => [row['action'], row['actor'], row['ip'], row['details']]),
      [
        ['set_plan', actor, null, { plan: 'team', previous: 'self_hosted' }],
        ['reinstate_workspace', actor, null, {}],
        ['suspend_workspace', actor, null, { reason: 'unpaid since May' }],
      ],
    )
  })

  test('a change to the installation is in a separate audit log, which no workspace can read and whose chain is intact', async () => {
    const { headers, userId } = await anOperator()
    await ask(world, 'PATCH platform/settings', { headers, body: { support_contact: 'help@example.com' } })
    const { audit } = (await ask(world, 'GET platform/audit', { headers })).body
    assert.deepEqual(
      [audit[0].action, audit[0].actor, audit[0].agent, audit[0].details],
      ['update_platform_settings', encodeId('user', userId), 'operator', { support_contact: 'help@example.com' }],
    )
    const chain = audit.toReversed()
    for (const [index, row] of chain.entries()) if (index > 0) assert.equal(row.prev_hash, chain[index - 1].hash)
    for (const who of [headers, owner]) {
      const own = (await ask(world, 'GET audit', { headers: who })).body.audit
      assert.ok(!own.some((row: { action: string }) => row.action === 'update_platform_settings'))
    }
  })

  test('a change with an Idempotency-Key is made once, also after the session has moved to another workspace', async () => {
    const { headers, userId } = await anOperator()
    const elsewhere = await aWorkspace(world, database, `elsewhere-${made}`)
    const target = await aWorkspace(world, database, `keyed-${made}`)
    await database.run(
      sql`insert into members (workspace_id, user_id, role, created_at) values (${elsewhere.workspaceId}, ${userId}, 'viewer', now())`,
    )
    const line = `POST platform/workspaces/${encodeId('workspace', target.workspaceId)}/suspend`
    const sent = { headers: { ...headers, 'idempotency-key': 'once' }, body: { reason: 'x' } }
    const first = await ask(world, line, sent)
    await ask(world, 'POST workspaces/switch', {
      headers,
      body: { workspace_id: encodeId('workspace', elsewhere.workspaceId) },
    })
    await ask(world, line.replace('suspend', 'reinstate'), { headers })
    const again = await ask(world, line, sent)
    assert.deepEqual(
      [first.status, again.status, again.headers.get('idempotent-replayed'), again.body],
      [200, 200, 'true', first.body],
    )
    assert.equal(
      (await ask(world, line.replace('POST', 'GET').replace('/suspend', ''), { headers })).body.workspace.state,
      'active',
    )
  })
})

const change = (headers: Headers, body: object): Promise<Answer> =>
  ask(world, 'PATCH platform/settings', { headers, body })
const create = (headers: Headers): Promise<Answer> =>
  ask(world, 'POST workspaces', { headers, body: { name: `Made ${(made += 1)}` } })

describe('the settings of the installation', () => {
  test('a change replaces the members that are sent, and the others stay', async () => {
    const { headers, userId } = await anOperator()
    await change(headers, { support_contact: 'help@example.com', default_plan: 'team' })
    const { settings } = (await change(headers, { workspace_creation: 'operators' })).body
    assert.deepEqual(
      [settings.support_contact, settings.default_plan, settings.workspace_creation, settings.updated_by],
      ['help@example.com', 'team', 'operators', encodeId('user', userId)],
    )
    assert.deepEqual((await ask(world, 'GET platform/settings', { headers })).body.settings, settings)
    await change(headers, { support_contact: null, default_plan: null, workspace_creation: 'anyone' })
  })

  test('workspace_creation decides who can create workspaces', async () => {
    const { headers } = await anOperator()
    await change(headers, { workspace_creation: 'operators' })
    assert.equal(said(await create(owner)), '403 workspace_creation_closed')
    assert.equal(said(await create(headers)), '201')
    await change(headers, { workspace_creation: 'anyone' })
    assert.equal(said(await create(owner)), '201')
  })

  test('default_plan is the plan of new workspaces, and an unknown plan is refused', async () => {
    const { headers } = await anOperator()
    const unknown = await change(headers, { default_plan: 'gold' })
    assert.equal(said(unknown), '400 invalid_request')
    assert.match(unknown.body.error, /^default_plan: .*self_hosted, free, team, business/)
    await change(headers, { default_plan: 'team' })
    const { body } = await ask(world, 'POST workspaces', { headers: owner, body: { name: `Planned ${(made += 1)}` } })
    const { plan } = await database.one<{ plan: string }>(
      sql`select plan from workspaces where slug = ${body.workspace.slug}`,
    )
    assert.equal(plan, 'team')
    await change(headers, { default_plan: null })
  })
})
