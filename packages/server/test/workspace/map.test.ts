import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { rollUp } from '../../src/resources/workspace/rollups/roll-up.ts'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

let world: World
let database: Database
let sink: Sink

// The rollups count only when the test starts them.
onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { env: { ROLES: 'web,deliver' }, loops: [] },
)

type Node = {
  kind: string
  id: string
  name: string
  events: number
  rejected: number
  failed: number
  delivered: number
}
type Line = { from: End; to: End; events: number | null; configured: boolean }
type End = { kind: string; id: string | null }

const asked = (query: Record<string, string> = {}): string =>
  Object.keys(query).length === 0 ? '' : `?${new URLSearchParams(query).toString()}`
async function map(query?: Record<string, string>): Promise<Answer['body']> {
  const { status, body } = await world.admin('GET', `map${asked(query)}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.map
}
const iso = (ms: number): string => new Date(ms).toISOString()
const nodeOf = (drawn: Answer['body'], id: string): Node =>
  drawn.nodes.find((node: Node) => node.id === id) ?? assert.fail(`${id} is not on the map`)
/** The events of the line between these two, or "none" when they are not connected. */
function between(drawn: Answer['body'], from: string, to: string): number | null | 'none' {
  const line = drawn.lines.find((one: Line) => one.from.id === from && one.to.id === to)
  return line === undefined ? 'none' : line.events
}

/** The events on all lines to destinations. */
const deliveriesOn = (lines: readonly Line[]): number =>
  lines.filter(({ to }) => to.kind === 'destination').reduce((sum, { events }) => sum + (events ?? 0), 0)

/** Past the grace period of everything that has arrived. */
async function counted(): Promise<void> {
  await world.idle()
  await world.run('rejections.flush')
  world.clock.advance(3 * MINUTE_MS)
  await rollUp(world.app.deps)
}

async function startOfMinute(): Promise<number> {
  await world.idle()
  world.clock.advance(MINUTE_MS - (world.clock.now() % MINUTE_MS))
  return world.clock.now()
}

test('a line has as many events as went over it: from an endpoint or a rule into a dataset, and from there to each destination', async () => {
  const begin = await startOfMinute()
  sink.answer((request) => ({ status: request.path === '/bad' ? 500 : 200 }))
  const webhook = await aWebhook(world, { dataset: 'map_orders' })
  const quiet = await aWebhook(world, { dataset: 'map_quiet' })
  const key = await anIngestKey(world)
  const large = await aRule(world, { dataset: 'map_large', conditions: [{ path: 'total', op: 'gt', value: 10 }] })
  const { destination: good } = await aDestination(world, { url: sink.url, datasets: ['map_orders', 'map_large'] })
  const { destination: bad } = await aDestination(world, {
    url: `${sink.url}bad`,
    datasets: ['map_large'],
    retry: { schedule_seconds: [0] },
  })
  for (let turn = 0; turn < 3; turn += 1) assert.equal((await post(webhook.public_url, `{"turn":${turn}}`)).status, 201)
  for (const total of [5, 50, 500])
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${key.key}`, JSON.stringify({ total }))).status, 201)
  await counted()
  const drawn = await map({ from: iso(begin), to: iso(begin + MINUTE_MS) })
  assert.deepEqual(
    {
      'endpoint to its dataset': between(drawn, webhook.id, 'map_orders'),
      'endpoint without events': between(drawn, quiet.id, 'map_quiet'),
      'key to the rule': between(drawn, key.id, large.id),
      'rule to its dataset': between(drawn, large.id, 'map_large'),
      'dataset to the destination': between(drawn, 'map_orders', good.id),
      'records of the rule to the same destination': between(drawn, 'map_large', good.id),
      'records of the rule to the failing destination': between(drawn, 'map_large', bad.id),
      'a dataset that the destination does not take': between(drawn, 'map_orders', bad.id),
    },
    {
      'endpoint to its dataset': 3,
      'endpoint without events': 0,
      'key to the rule': 2,
      'rule to its dataset': 2,
      'dataset to the destination': 3,
      'records of the rule to the same destination': 2,
      'records of the rule to the failing destination': 2,
      'a dataset that the destination does not take': 'none',
    },
  )
  const sums = nodeOf(drawn, good.id)
  assert.deepEqual([sums.events, sums.delivered, sums.failed], [5, 5, 0])
  assert.equal(nodeOf(drawn, bad.id).failed, 2)
  assert.equal(nodeOf(drawn, key.id).events, 3, 'a request that no rule takes counts at its key')
  assert.equal(nodeOf(drawn, 'map_large').events, 2)
  assert.equal(drawn.lines_since, null)
})

test('a range of the past has the events of that time alone, from minutes and from hours', async () => {
  const begin = await startOfMinute()
  const webhook = await aWebhook(world, { dataset: 'map_past' })
  await post(webhook.public_url, '{}')
  await counted()
  world.clock.advance(2 * HOUR_MS)
  const later = await startOfMinute()
  await post(webhook.public_url, '{}')
  await post(webhook.public_url, '{}')
  await counted()
  const over = async (from: number, to: number): Promise<unknown> =>
    between(await map({ from: iso(from), to: iso(to) }), webhook.id, 'map_past')
  assert.equal(await over(begin, begin + MINUTE_MS), 1)
  assert.equal(await over(begin + MINUTE_MS, later), 0)
  assert.equal(await over(later, later + MINUTE_MS), 2)
  assert.equal(await over(begin - HOUR_MS, later + MINUTE_MS), 3)
  const { count } = await database.one<{ count: number }>(
    sql`select count(*)::int as count from flow_rollups where span_seconds = 3600 and dataset = 'map_past' and way = 'in'`,
  )
  assert.equal(count, 1, 'the first hour is stored as an hour')
})

test('rejected requests count at their endpoint, and a destination that is off shows what it holds back', async () => {
  const begin = await startOfMinute()
  const off = await aWebhook(world, { enabled: false })
  assert.equal((await post(off.public_url, '{}')).status, 503)
  const webhook = await aWebhook(world, { dataset: 'map_held' })
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['map_held'], enabled: false })
  await post(webhook.public_url, '{}')
  await counted()
  const drawn = await map({ from: iso(begin) })
  assert.deepEqual([nodeOf(drawn, off.id).rejected, nodeOf(drawn, off.id).events], [1, 0])
  const { held } = drawn.nodes.find(({ id }: Node) => id === destination.id)
  assert.deepEqual([held.cause, held.deliveries], ['destination_off', 1])
})

test('a workflow is between its dataset, the destinations that it delivers to, and the datasets that it files in', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['map_nothing'] })
  const { body } = await world.admin('POST', 'workflows', {
    name: 'Map follow-up',
    entry_dataset: 'map_entry',
    steps: [
      {
        id: 'choose',
        type: 'branch',
        branches: [{ name: 'all', steps: [{ id: 'send', type: 'deliver', destination: destination.id }] }],
      },
      { id: 'note', type: 'emit_event', dataset: 'map_notes' },
    ],
  })
  const drawn = await map()
  const { id } = body.workflow
  assert.deepEqual(
    [between(drawn, 'map_entry', id), between(drawn, id, destination.id), between(drawn, id, 'map_notes')],
    [0, 0, 0],
  )
})

test('of many nodes the ones with problems or events are shown, and the rest is added up, with its lines', async () => {
  const begin = await startOfMinute()
  const some = await Promise.all(
    Array.from({ length: 6 }, (_none, index) =>
      aDestination(world, {
        url: `${sink.url}${index === 5 ? 'bad' : ''}`,
        datasets: ['map_many'],
        retry: { schedule_seconds: [0] },
      }),
    ),
  )
  const webhook = await aWebhook(world, { dataset: 'map_many' })
  await post(webhook.public_url, '{}')
  await counted()
  const drawn = await map({ from: iso(begin), limit: '2' })
  const destinations = drawn.nodes.filter(({ kind }: Node) => kind === 'destination')
  assert.equal(destinations.length, 2)
  assert.ok(
    destinations.some(({ id }: Node) => id === some[5]?.destination.id),
    'the one that fails is shown',
  )
  const all = await map({ from: iso(begin) })
  const number = all.nodes.filter(({ kind }: Node) => kind === 'destination').length
  const left = drawn.omitted.find(({ kind }: Node) => kind === 'destination')
  assert.equal(left.nodes, number - 2)
  assert.equal(deliveriesOn(drawn.lines), deliveriesOn(all.lines), 'no event is lost by leaving nodes out')
  assert.equal(deliveriesOn(all.lines), 6)
})

test('a range that is empty or too long is refused with the remedy', async () => {
  const now = world.clock.now()
  for (const [query, text] of [
    [{ from: iso(now), to: iso(now - 1) }, /`from` must be before `to`/],
    [{ from: iso(now - 40 * 24 * HOUR_MS) }, /longer than 31 days; send a shorter one/],
    [{ limit: '0' }, /limit/],
  ] as const) {
    const { status, body } = await world.admin('GET', `map${asked(query)}`)
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), text)
  }
})
