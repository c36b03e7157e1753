import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { post, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type Sink, type World } from '../stage/harness.ts'
import { ask, aWorkspace, theWorkspace, type Headers } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The list of all workspaces for operators, and a change of plan. */
let world: World
let other: World
let database: Database
let operator: Headers
let sink: Sink

const OPERATORS = 'operator@example.com'

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
    other = await aWorld({ beside: world, env: { ROLES: 'web', OPERATORS } })
    made.atEnd(() => other.stop())
    const home = await theWorkspace(database)
    await database.run(sql`update users set email = ${OPERATORS} where id = ${home.userId}`)
    operator = await signedIn(world, home)
  },
  { env: { OPERATORS }, loops: [] },
)

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const list = async (query = ''): Promise<readonly Answer['body'][]> =>
  (await ask(world, `GET platform/workspaces${query}`, { headers: operator })).body.workspaces
const slugs = async (query = ''): Promise<readonly string[]> => (await list(query)).map(({ slug }) => slug)

test('the list finds by slug and by name, and by state', async () => {
  const names = ['north', 'south', 'Nordwind'.toLowerCase()]
  const ids = new Map<string, string>()
  for (const slug of names) ids.set(slug, (await aWorkspace(world, database, slug)).workspaceId)
  await database.run(sql`update workspaces set name = 'Nordwind 100% _x' where slug = 'nordwind'`)
  await database.run(
    sql`update workspaces set suspended_at = now(), suspended_reason = 'unpaid' where id = ${ids.get('north') ?? null}`,
  )
  await database.run(sql`update workspaces set closed_at = now() where id = ${ids.get('south') ?? null}`)
  assert.deepEqual(await slugs(), ['nordwind', 'south', 'north', 'main'])
  assert.deepEqual(await slugs('?q=NOR'), ['nordwind', 'north'])
  assert.deepEqual(await slugs(`?q=${encodeURIComponent('100% _')}`), ['nordwind'])
  assert.deepEqual(await slugs('?q=%25'), ['nordwind'], 'a sign of a pattern is a letter like any other')
  assert.deepEqual(await slugs('?state=suspended'), ['north'])
  assert.deepEqual(await slugs('?state=closed'), ['south'])
  assert.deepEqual(await slugs('?state=active&q=nor'), ['nordwind'])
  const [north] = await list('?q=north')
  assert.deepEqual(
    [north.state, north.suspended_reason, north.members, north.plan],
    ['suspended', 'unpaid', 1, 'self_hosted'],
  )
})

test('a workspace shows its usage of the month and its retained events', async () => {
  const home = await aWorkspace(world, database, 'counted')
  const headers = await signedIn(world, home)
  const { webhook } = (await ask(world, 'POST webhooks', { headers, body: { name: 'in' } })).body
  for (let sent = 0; sent < 3; sent += 1) assert.equal((await post(webhook.public_url, '{}')).status, 201)
  const path = `GET platform/workspaces/${encodeId('workspace', home.workspaceId)}`
  world.clock.advance(5_000)
  await world.run('rollups.count')
  const { workspace: counted } = (await ask(world, path, { headers: operator })).body
  assert.deepEqual(
    [counted.usage, counted.retained_events],
    [{ month: '2026-01', events: 3, max_events: null, deliveries: null, max_deliveries: null }, 3],
  )
  await database.run(
    sql`update project_rollups set at = at - make_interval(days => 40), span_seconds = 3600 where workspace_id = ${home.workspaceId}`,
  )
  const { workspace: later } = (await ask(world, path, { headers: operator })).body
  assert.deepEqual([later.usage.events, later.retained_events], [0, 0], 'events of last month, past the retention')
})

test('an unknown plan and an unknown workspace are refused', async () => {
  const home = await aWorkspace(world, database, 'planned')
  const path = `PUT platform/workspaces/${encodeId('workspace', home.workspaceId)}/plan`
  const unknown = await ask(world, path, { headers: operator, body: { plan: '__proto__' } })
  assert.equal(said(unknown), '400 invalid_request')
  assert.match(unknown.body.error, /^plan: .*Use one of self_hosted, free, team, business\.$/)
  const nowhere = encodeId('workspace', world.app.deps.uuid())
  for (const line of ['GET ', 'POST /suspend', 'POST /reinstate', 'PUT /plan', 'POST /clear-network']) {
    const [method = '', rest = ''] = line.split(' ')
    const body = { ...(rest === '/plan' ? { plan: 'free' } : {}), ...(rest === '/suspend' ? { reason: 'x' } : {}) }
    const answer = await ask(world, `${method} platform/workspaces/${nowhere}${rest}`, {
      headers: operator,
      ...(method === 'GET' ? {} : { body }),
    })
    assert.equal(said(answer), '404 not_found', line)
  }
})

/** Lets both nodes read the project and look for changes, so that only an announced change can reach them. */
async function settle(url: string): Promise<void> {
  for (const node of [world, other]) node.clock.advance(20_000)
  await world.idle()
  for (const node of [world, other])
    assert.equal((await post(url.replace(world.baseUrl, node.baseUrl), '{}')).status, 201)
}

test('the limits of another plan apply on every node within a second, and deliveries that waited for the allowance are sent', async () => {
  const home = await aWorkspace(world, database, 'growing')
  const headers = await signedIn(world, home)
  const make = async (path: string, body: object) => (await ask(world, `POST ${path}`, { headers, body })).body
  const { webhook } = await make('webhooks', { name: 'in', dataset: 'd' })
  await make('destinations', { name: 'out', url: sink.url })
  await settle(webhook.public_url)
  const id = encodeId('workspace', home.workspaceId)
  const setPlan = async (plan: string): Promise<Answer> =>
    ask(world, `PUT platform/workspaces/${id}/plan`, { headers: operator, body: { plan } })
  assert.equal((await setPlan('free')).body.workspace.plan, 'free')
  const month = new Date(world.clock.now()).toISOString().slice(0, 8)
  await database.run(
    sql`insert into monthly_usage (workspace_id, month, events, deliveries) values (${home.workspaceId}, ${`${month}01`}::date, 10000, 50000)`,
  )
  const atBoth = async (wanted: string): Promise<void> => {
    await world.quiet()
    for (const node of [world, other])
      assert.equal(said(await post(webhook.public_url.replace(world.baseUrl, node.baseUrl), '{}')), wanted)
  }
  await atBoth('429 quota_exceeded')
  await database.run(sql`update monthly_usage set events = 0 where workspace_id = ${home.workspaceId}`)
  assert.equal((await post(webhook.public_url, '{}')).status, 201)
  const deliveries = async (state: string): Promise<number> =>
    (await ask(world, `GET deliveries?state=${state}`, { headers })).body.deliveries.length
  assert.ok((await deliveries('paused')) > 0)
  await settle(webhook.public_url)
  const grown = (await setPlan('team')).body.workspace
  assert.deepEqual([grown.usage.max_events, grown.usage.max_deliveries], [500_000, 2_500_000])
  await database.run(sql`update monthly_usage set events = 10000 where workspace_id = ${home.workspaceId}`)
  await atBoth('201')
  await world.run('allowance.release')
  assert.equal(await deliveries('paused'), 0)
  assert.ok((await deliveries('delivered')) > 0)
})
