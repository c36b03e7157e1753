import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, type Answer, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

const HOUR_MS = 3_600_000

let world: World
let database: Database
let key: string

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    key = (await anIngestKey(world)).key
  },
  { loops: [] },
)

let datasets = 0

class Route {
  readonly id: string
  readonly dataset: string

  constructor(id: string, dataset: string) {
    this.id = id
    this.dataset = dataset
  }

  async send(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      // oxlint-disable-next-line no-await-in-loop -- in this order
      const answer = await post(`${world.baseUrl}/v1/ingest/${key}/${this.dataset}`, '{}')
      assert.equal(answer.status, 201)
    }
  }

  async shown(): Promise<Answer['body']> {
    return (await world.admin('GET', `destinations/${this.id}`)).body.destination
  }

  /** The destination once the world is idle; `is` must accept it. */
  async once(is: (destination: Answer['body']) => boolean): Promise<Answer['body']> {
    await world.idle()
    const destination = await this.shown()
    assert.ok(is(destination), JSON.stringify(destination))
    return destination
  }

  async deliveries(): Promise<Answer['body'][]> {
    return (await world.admin('GET', `deliveries?destination_id=${this.id}&limit=200`)).body.deliveries
  }

  async ended(count: number): Promise<void> {
    await world.idle()
    const delivered = (await this.deliveries()).filter((delivery) => delivery.state === 'delivered')
    assert.equal(delivered.length, count)
  }

  async patch(members: object): Promise<Answer['body']> {
    const answer = await world.admin('PATCH', `destinations/${this.id}`, members)
    assert.equal(answer.status, 200)
    return answer.body.destination
  }
}

async function aRoute(t: TestContext, members: object = {}): Promise<{ route: Route; sink: Sink }> {
  const sink = await aSink()
  datasets += 1
  const dataset = `d${datasets}`
  const { destination } = await aDestination(world, { url: sink.url, datasets: [dataset], ...members })
  t.after(async () => {
    await world.admin('DELETE', `destinations/${destination.id}`)
    await sink.stop()
  })
  return { route: new Route(destination.id, dataset), sink }
}

const open = (destination: Answer['body']): boolean => destination.breaker.state === 'open'

function advanceTo(moment: string): void {
  world.clock.advance(Date.parse(moment) - world.clock.now())
}

test('after ten failures in a row one probe is sent at a time, which uses up no attempt; a probe that succeeds releases the other deliveries', async (t) => {
  const { route, sink } = await aRoute(t)
  sink.answer({ status: 500 })
  await route.send(10)
  const opened = await route.once(open)
  assert.deepEqual(
    [opened.breaker.failures_in_row, Date.parse(opened.breaker.next_probe_at) - Date.parse(opened.breaker.opened_at)],
    [10, 30_000],
  )
  assert.equal(opened.breaker.failing_since, opened.breaker.opened_at)
  await route.send(1)
  advanceTo(opened.breaker.next_probe_at)
  const again = await route.once((destination) => open(destination) && destination.breaker.failures_in_row === 11)
  assert.equal(sink.received.length, 11, 'one request, although eleven deliveries are due')
  assert.equal(again.breaker.opened_at, opened.breaker.opened_at)
  assert.ok(Date.parse(again.breaker.next_probe_at) - world.clock.now() > 59_000)
  const counts = await database.many<{ failures: number }>(
    sql`select failure_count as failures from deliveries order by id desc limit 1`,
  )
  assert.deepEqual(counts[0], { failures: 0 }, 'the probe was the eleventh delivery, and its schedule is at its start')
  sink.answer({ status: 200 })
  advanceTo(again.breaker.next_probe_at)
  await route.ended(11)
  const closed = await route.once(
    (destination) => destination.breaker.state === 'closed' && destination.breaker.failures_in_row === 0,
  )
  assert.deepEqual(closed.breaker, {
    state: 'closed',
    opened_at: null,
    next_probe_at: null,
    failures_in_row: 0,
    failing_since: null,
    last_error: null,
    last_status: null,
  })
})

test('an open breaker delays no other destination', async (t) => {
  const dead = await aRoute(t)
  const healthy = await aRoute(t)
  dead.sink.answer({ status: 503 })
  await dead.route.send(10)
  await dead.route.once(open)
  await dead.route.send(5)
  await healthy.route.send(5)
  await healthy.route.ended(5)
  assert.equal(dead.sink.received.length, 10)
})

test('turning a destination off and on closes its breaker, and the waiting deliveries are sent immediately', async (t) => {
  const { route, sink } = await aRoute(t)
  sink.answer({ status: 500 })
  await route.send(10)
  await route.once(open)
  sink.answer({ status: 200 })
  await route.patch({ enabled: false })
  assert.equal((await route.patch({ enabled: true })).breaker.state, 'closed')
  await route.ended(10)
})

test('after 120 hours without a success, a probe that fails disables the destination; this is audited and mailed, and nothing is lost', async (t) => {
  const { route, sink } = await aRoute(t)
  await database.run(sql`update users set email = 'owner@example.com'`)
  sink.answer({ status: 500 })
  await route.send(10)
  await route.once(open)
  world.clock.advance(120 * HOUR_MS - 1_000)
  const still = await route.once((destination) => open(destination) && destination.breaker.failures_in_row === 11)
  assert.equal(still.enabled, true)
  advanceTo(still.breaker.next_probe_at)
  const off = await route.once((destination) => !destination.enabled)
  assert.deepEqual([off.disabled_reason, off.disabled_at === null], ['failing', false])
  const states = (await route.deliveries()).map((delivery) => `${delivery.state} ${delivery.pause_reason}`)
  assert.deepEqual([...new Set(states)], ['paused destination_disabled'])
  const { audit } = (await world.admin('GET', 'audit?action=disable_destination')).body
  assert.deepEqual([audit[0].actor, audit[0].target, audit[0].details.reason], ['system', route.id, 'failing'])
  const mails = await database.many<{ kind: string }>(sql`select kind from mails where kind = 'destination_disabled'`)
  assert.equal(mails.length, 1, 'to the owner, who is alone here')
  sink.answer({ status: 200 })
  const on = await route.patch({ enabled: true })
  assert.deepEqual([on.disabled_reason, on.breaker.state], [null, 'closed'])
  await route.ended(10)
})

test('a rate limit covers all attempts, and the next ones are sent when the period allows it', async (t) => {
  const { route, sink } = await aRoute(t, { rate_limit: { count: 3, per: 'minute' } })
  await route.send(5)
  await route.ended(3)
  world.clock.advance(5_000)
  await world.idle()
  const [lane] = await database.many<{ pending: number }>(
    sql`select (memory->'rate'->>'pending')::int as pending from lanes where memory->'rate'->>'sends' is not null`,
  )
  assert.equal(lane?.pending, 0)
  world.clock.advance(54_000)
  await world.idle()
  assert.equal(sink.received.length, 3)
  world.clock.advance(1_000)
  await route.ended(5)
  assert.equal(sink.received.length, 5)
  assert.deepEqual((await route.patch({ rate_limit: null })).rate_limit, null)
  await route.send(4)
  await route.ended(9)
})

test('a rate limit is a whole number from 1 for a second, a minute or an hour', async () => {
  for (const rate_limit of [
    { count: 0, per: 'second' },
    { count: 1.5, per: 'second' },
    { count: 1, per: 'day' },
    { count: 1 },
    5,
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await world.admin('POST', 'destinations', {
      name: 'limited',
      url: 'https://example.com/',
      rate_limit,
    })
    assert.equal(answer.status, 400)
    assert.match(answer.body.error, /rate_limit/)
  }
})
