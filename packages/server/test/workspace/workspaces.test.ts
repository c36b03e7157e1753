import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, LIMITS, RESERVED_ROOTS } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { post, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type Sink, type World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, aWorkspace, type Headers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The workspaces of a person, and the end of one (contract parts 1 and 5, decisions §7). */
let world: World
let other: World
let database: Database
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
    other = await aWorld({ beside: world, env: { ROLES: 'web' } })
    made.atEnd(() => other.stop())
  },
  { loops: [] },
)

type Home = Member & { readonly slug: string; readonly headers: Headers }

let made = 0

async function aHome(): Promise<Home> {
  made += 1
  const owner = await aWorkspace(world, database, `home-${made}`)
  return { ...owner, slug: `home-${made}`, headers: await signedIn(world, owner) }
}

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const create = (by: Headers, body: object): Promise<Answer> => ask(world, 'POST workspaces', { headers: by, body })
const close = (home: Home, confirm = home.slug): Promise<Answer> =>
  ask(world, 'POST workspace/close', { headers: home.headers, body: { confirm } })
const reopen = (home: Home): Promise<Answer> => ask(world, 'POST workspace/reopen', { headers: home.headers })
const slugsOf = async (home: Home): Promise<readonly string[]> =>
  (await ask(world, 'GET workspaces', { headers: home.headers })).body.workspaces.map(
    ({ slug }: { slug: string }) => slug,
  )

test('a person creates workspaces, owns them, sees all workspaces in which they are a member, and switches between them', async () => {
  const home = await aHome()
  const { status, body } = await create(home.headers, { name: 'Second Shop' })
  assert.deepEqual(
    [status, body.workspace.name, body.workspace.slug, body.workspace.role, body.workspace.current],
    [201, 'Second Shop', 'second-shop', 'owner', false],
  )
  await aHome()
  assert.deepEqual(await slugsOf(home), ['second-shop', home.slug])
  const switched = await ask(world, 'POST workspaces/switch', {
    headers: home.headers,
    body: { workspace_id: body.workspace.id },
  })
  assert.deepEqual([switched.status, switched.body.workspace.current], [200, true])
  const me = (await ask(world, 'GET me', { headers: home.headers })).body
  assert.deepEqual([me.workspace.slug, me.role, me.default_project.slug], ['second-shop', 'owner', 'default'])
  assert.deepEqual(
    (await ask(world, 'GET projects', { headers: home.headers })).body.projects.map(
      ({ is_default }: { is_default: boolean }) => is_default,
    ),
    [true],
  )
})

test('a slug is free, well formed and no reserved root; a slug made from a name avoids taken ones', async () => {
  const home = await aHome()
  for (const slug of RESERVED_ROOTS)
    assert.equal(said(await create(home.headers, { name: 'x', slug })), '400 invalid_request', slug)
  for (const slug of ['', '-a', 'a-', 'A', 'a_b', 'a'.repeat(64)])
    assert.equal(said(await create(home.headers, { name: 'x', slug })), '400 invalid_request', slug)
  assert.equal(said(await create(home.headers, { name: 'x', slug: home.slug })), '409 slug_taken')
  for (const name of ['Admin', home.slug]) {
    const { body } = await create(home.headers, { name })
    assert.match(body.workspace.slug, new RegExp(`^${name.toLowerCase()}-[a-z0-9]{6}$`))
  }
})

test('a person who switches to a workspace in which they are not a member gets 404', async () => {
  const [home, foreign] = [await aHome(), await aHome()]
  const to = (id: string): Promise<Answer> =>
    ask(world, 'POST workspaces/switch', { headers: home.headers, body: { workspace_id: id } })
  const [theirs, random] = [
    await to(encodeId('workspace', foreign.workspaceId)),
    await to(encodeId('workspace', world.app.deps.uuid())),
  ]
  assert.deepEqual([said(theirs), theirs.body], ['404 not_found', random.body])
  assert.equal((await ask(world, 'GET me', { headers: home.headers })).body.workspace.slug, home.slug)
})

test('a person who is in no workspace can create one and switch to it, and nothing else', async () => {
  const home = await aHome()
  await database.run(sql`delete from members where user_id = ${home.userId}`)
  assert.equal(said(await ask(world, 'GET projects', { headers: home.headers })), '403 no_workspace')
  assert.deepEqual(await slugsOf(home), [])
  const { body } = await create(home.headers, { name: `New of ${home.slug}` })
  assert.equal(
    said(
      await ask(world, 'POST workspaces/switch', { headers: home.headers, body: { workspace_id: body.workspace.id } }),
    ),
    '200',
  )
  assert.equal((await ask(world, 'GET me', { headers: home.headers })).body.role, 'owner')
})

test(`one person owns at most ${LIMITS.workspacesOwnedMax} workspaces, also with many simultaneous requests`, async () => {
  const home = await aHome()
  await database.run(
    sql`insert into workspaces (id, slug, name, created_at) select gen_random_uuid(), ${home.slug} || '-' || n, 'Many', now() from generate_series(1, ${LIMITS.workspacesOwnedMax - 2}) n`,
  )
  await database.run(
    sql`insert into members (workspace_id, user_id, role, created_at) select id, ${home.userId}, 'owner', now() from workspaces where slug like ${`${home.slug}-%`}`,
  )
  const answers = await Promise.all([1, 2, 3].map((n) => create(home.headers, { name: `last ${n}` })))
  assert.deepEqual(answers.map(said).toSorted(), ['201', '403 workspace_limit_reached', '403 workspace_limit_reached'])
})

test('an admin can rename a workspace, which retains its slug; a new workspace of a paying customer is on the free plan', async () => {
  const home = await aHome()
  const { headers } = await aKeyOf(world, database, { ...home, role: 'admin' })
  const renamed = await ask(world, 'PATCH workspace', { headers, body: { name: 'Renamed' } })
  assert.deepEqual(
    [renamed.body.workspace.name, renamed.body.workspace.slug, renamed.body.workspace.max_members],
    ['Renamed', home.slug, null],
  )
  const developer = await aKeyOf(world, database, { ...home, role: 'developer' })
  assert.equal(
    said(await ask(world, 'PATCH workspace', { headers: developer.headers, body: { name: 'x' } })),
    '403 insufficient_role',
  )
  await database.run(sql`update workspaces set plan = 'team' where id = ${home.workspaceId}`)
  const { body } = await create(home.headers, { name: 'More' })
  assert.equal(
    (await database.one<{ plan: string }>(sql`select plan from workspaces where slug = ${body.workspace.slug}`)).plan,
    'free',
  )
})

test('no API key can list, create, switch, close or reopen a workspace', async () => {
  const home = await aHome()
  const { headers } = await aKeyOf(world, database, home)
  for (const line of [
    'GET workspaces',
    'POST workspaces',
    'POST workspaces/switch',
    'POST workspace/close',
    'POST workspace/reopen',
  ]) {
    assert.equal(
      said(await ask(world, line, { headers, ...(line.startsWith('POST') ? { body: {} } : {}) })),
      '403 agent_not_permitted',
      line,
    )
  }
})

test('a person can leave a suspended workspace by creating another or by switching to it; the suspended one cannot be closed', async () => {
  const home = await aHome()
  const { body } = await create(home.headers, { name: `Spare of ${home.slug}` })
  await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
  assert.equal(said(await create(home.headers, { name: 'x' })), '201')
  assert.equal(said(await close(home)), '403 workspace_suspended')
  assert.equal(
    said(
      await ask(world, 'POST workspaces/switch', { headers: home.headers, body: { workspace_id: body.workspace.id } }),
    ),
    '200',
  )
})

test('only an owner closes a workspace, and only by its slug', async () => {
  const home = await aHome()
  const admin = await signedIn(world, await aMember(world, database, { workspaceId: home.workspaceId, role: 'admin' }))
  assert.equal(
    said(await ask(world, 'POST workspace/close', { headers: admin, body: { confirm: home.slug } })),
    '403 insufficient_role',
  )
  assert.equal(said(await close(home, 'another')), '400 invalid_request')
  assert.equal((await ask(world, 'GET workspace', { headers: home.headers })).body.workspace.closed_at, null)
})

/** An endpoint of this workspace with a destination that refuses, and one waiting delivery. */
async function aWaitingDelivery(home: Home): Promise<{ url: string; destination: string }> {
  const make = async (path: string, body: object) =>
    (await ask(world, `POST ${path}`, { headers: home.headers, body })).body
  const { webhook } = await make('webhooks', { name: 'in', dataset: 'd' })
  const { destination } = await make('destinations', { name: 'out', url: `${sink.url}${home.slug}` })
  sink.answer({ status: 500 })
  assert.equal((await post(webhook.public_url, '{"kept":1}')).status, 201)
  await world.idle()
  assert.equal((await ask(world, 'GET deliveries?state=retrying', { headers: home.headers })).body.deliveries.length, 1)
  sink.answer({ status: 200 })
  return { url: webhook.public_url, destination: destination.id }
}

test('a closed workspace accepts, sends and changes nothing on any node, remains readable, and continues when reopened', async () => {
  const home = await aHome()
  const { url } = await aWaitingDelivery(home)
  const closed = await close(home)
  assert.deepEqual(
    [closed.status, Date.parse(closed.body.workspace.deleted_after) - Date.parse(closed.body.workspace.closed_at)],
    [200, LIMITS.workspaceGraceMs],
  )
  const refused = await post(url, '{}')
  assert.equal(said(refused), '403 workspace_closed')
  assert.match(refused.body.error, /closed.*reopen/)
  const listed = (await ask(world, 'GET me', { headers: home.headers })).body.workspace
  assert.deepEqual([listed.suspended, listed.closed], [false, true])
  await world.idle()
  assert.equal(said(await post(url.replace(world.baseUrl, other.baseUrl), '{}')), '403 workspace_closed')
  const had = sink.received.length
  world.clock.advance(3_600_000)
  await world.idle()
  const [delivery] = (await ask(world, 'GET deliveries', { headers: home.headers })).body.deliveries
  assert.deepEqual([delivery.state, delivery.pause_reason, sink.received.length], ['paused', 'workspace_closed', had])
  assert.equal(
    said(await ask(world, 'POST rules', { headers: home.headers, body: { name: 'x', dataset: 'x' } })),
    '403 workspace_closed',
  )
  assert.equal(said(await close(home)), '403 workspace_closed')
  assert.equal(said(await reopen(home)), '200')
  await world.idle()
  const [delivered] = (await ask(world, 'GET deliveries?state=delivered', { headers: home.headers })).body.deliveries
  assert.equal(delivered.id, delivery.id)
  assert.equal((await post(url, '{}')).status, 201)
  const rows = await database.many<{ action: string }>(
    sql`select action from audit_rows where workspace_id = ${home.workspaceId} and action like '%workspace' order by id`,
  )
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['close_workspace', 'reopen_workspace'],
  )
})

test('a closed workspace that the operator suspends too can be reopened only after it was reinstated, and continues only when both have ended', async () => {
  const home = await aHome()
  const { url } = await aWaitingDelivery(home)
  await close(home)
  await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
  assert.equal(said(await reopen(home)), '403 workspace_suspended')
  await database.run(sql`update workspaces set suspended_at = null where id = ${home.workspaceId}`)
  assert.equal(said(await post(url, '{}')), '403 workspace_closed')
  assert.equal(said(await reopen(home)), '200')
  assert.equal((await post(url, '{}')).status, 201)
})
