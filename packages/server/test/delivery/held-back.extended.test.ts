import assert from 'node:assert/strict'
import { HOLD_CAUSES, type HoldCause } from '@postroad/contract'
import { test, type TestContext } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import { aReceiver } from '../stage/delivery-routes.ts'
import { aSink, type Answer, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Every answer that shows, lists or counts deliveries reports which of them their destination holds back. */
let world: World
let database: Database

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
  },
  { loops: [] },
)

type Body = Answer['body']
let datasets = 0
const tried = new Set<HoldCause>()

const get = async (path: string): Promise<Body> => {
  const { status, body } = await world.admin('GET', path)
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
  return body
}

/** A destination with a separate dataset, and everything that the API reports about its deliveries. */
async function aPlace(t: TestContext, url: string, members: object = {}) {
  datasets += 1
  const dataset = `h${datasets}`
  const { destination } = await aDestination(world, { url, datasets: [dataset], ...members })
  const path = `destinations/${destination.id}`
  t.after(() => world.admin('DELETE', path))
  const list = async (query = ''): Promise<Body[]> =>
    (await get(`deliveries?destination_id=${destination.id}&limit=200${query}`)).deliveries
  return {
    id: destination.id as string,
    path,
    list,
    send: async (count: number, body: object = {}): Promise<void> => {
      for (let index = 0; index < count; index += 1)
        // oxlint-disable-next-line no-await-in-loop -- in this order
        assert.equal((await post(`${world.endpoint}/${dataset}`, JSON.stringify(body))).status, 201)
    },
    shown: async (): Promise<Body> => (await get(path)).destination,
    health: async (): Promise<Body> => (await get(`${path}/health`)).health,
    hold: async (): Promise<Body> =>
      (await get('delivery-holds')).holds.find((one: Body) => one.destination_id === destination.id),
    once: async (is: (shown: Body) => boolean): Promise<Body> => {
      await world.idle()
      const shown = (await get(path)).destination
      assert.ok(is(shown), JSON.stringify(shown))
      return shown
    },
    are: async (state: string, count: number): Promise<void> => {
      await world.idle()
      assert.equal((await list()).filter((row) => row.state === state).length, count)
    },
  }
}
type Place = Awaited<ReturnType<typeof aPlace>>

async function aSinkOf(t: TestContext): Promise<Sink> {
  const sink = await aSink()
  t.after(() => sink.stop())
  return sink
}

/** Checks that every place reports the same about each delivery: which ones are held back, and why. */
async function comparePlaces(place: Place, wanted: { cause: HoldCause | null; held: number }): Promise<Body[]> {
  const { cause, held } = wanted
  const rows = await place.list()
  const heldRows = rows.filter((row) => row.held_by !== null)
  assert.deepEqual([...new Set(heldRows.map((row) => row.held_by.cause))], cause === null ? [] : [cause])
  assert.equal(heldRows.length, held, 'the list')
  for (const one of ['any', ...HOLD_CAUSES]) {
    const expected = one === 'any' || one === cause ? heldRows : []
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.deepEqual(await place.list(`&held_by=${one}`), expected, `the filter for ${one}`)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { deliveries } = await get(`search/deliveries?destination=${place.id}&held_by=${one}&limit=200`)
    assert.deepEqual(deliveries, expected, `the filter of the search for ${one}`)
  }
  const found = (await get(`search/deliveries?destination=${place.id}&limit=200`)).deliveries
  assert.deepEqual(found, rows, 'the search')
  // oxlint-disable-next-line no-await-in-loop -- one after the other
  for (const row of rows.slice(0, 3)) await compareOne(row)
  await compareCounts(place, wanted)
  if (cause !== null) tried.add(cause)
  return heldRows
}

async function compareOne(row: Body): Promise<void> {
  const { attempts: _attempts, ...delivery } = (await get(`deliveries/${row.id}`)).delivery
  assert.deepEqual(delivery, row, 'one delivery')
  const story = await get(`search/correlate/${row.id}`)
  assert.deepEqual(story.deliveries.find((one: Body) => one.id === row.id)?.held_by, row.held_by, 'the story')
}

async function compareCounts(place: Place, { cause, held }: { cause: HoldCause | null; held: number }): Promise<void> {
  const hold = await place.hold()
  assert.deepEqual([hold?.deliveries ?? 0, hold?.cause ?? null], [held, cause], 'the list of holds')
  const health = await place.health()
  assert.deepEqual([health.backlog.held, health.held_by?.cause ?? null], [held, cause], 'the health')
}

const heldAfterFailures = async (place: Place, sink: Sink): Promise<Body> => {
  sink.answer({ status: 503 })
  await place.send(10)
  return place.once((shown) => shown.breaker.state === 'open')
}

test('an open breaker: every delivery that is due before the next probe reports it, with the last error, the start and the next probe', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  await comparePlaces(place, { cause: null, held: 0 })
  const opened = await heldAfterFailures(place, sink)
  await place.send(3)
  assert.deepEqual([opened.breaker.last_error, opened.breaker.last_status], ['bad_status', 503])
  const rows = await comparePlaces(place, { cause: 'breaker_open', held: 13 })
  assert.deepEqual(rows[0].held_by, {
    cause: 'breaker_open',
    last_error: 'bad_status',
    last_status: 503,
    since: opened.breaker.opened_at,
    next_probe_at: opened.breaker.next_probe_at,
    behind: null,
  })
  assert.equal((await place.health()).next_attempt_at, opened.breaker.next_probe_at, 'not "now"')
  const { summary } = await get('dashboard/summary')
  assert.equal(summary.backlog.held, 13)
  const stuck = (await get('search/events?state=stuck&limit=200')).records.map((record: Body) => record.id)
  assert.deepEqual(new Set(stuck), new Set(rows.map((row) => row.record_id)))
  assert.equal((await get(`search/deliveries?state=stuck&destination=${place.id}&limit=200`)).deliveries.length, 13)
  // A retry that is due after the probe waits for its own time.
  const [first] = rows
  await database.run(
    sql`update deliveries set next_attempt_at = ${new Date(world.clock.now() + 3_600_000)} where state = 'retrying' and attempt_count = 1
        and id = (select id from deliveries where state = 'retrying' order by id limit 1)`,
  )
  await comparePlaces(place, { cause: 'breaker_open', held: 12 })
  const answer = await world.admin('POST', `deliveries/${first.id}/retry`)
  assert.equal(answer.body.delivery.held_by.cause, 'breaker_open', 'the result of a manual retry')
})

test('a destination that is off: a paused delivery reports it', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url, { enabled: false })
  await place.send(2)
  const { disabled_at } = await place.shown()
  const [row] = await comparePlaces(place, { cause: 'destination_off', held: 2 })
  assert.deepEqual([row.held_by.since, row.held_by.next_probe_at], [disabled_at, null])
  assert.equal((await place.health()).next_attempt_at, null)
  assert.deepEqual((await get(`search/deliveries?state=stuck&destination=${place.id}`)).deliveries, [])
})

test('a destination that Postroad disabled is in trouble: its deliveries are stuck', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  sink.answer({ status: 410 })
  await place.send(1)
  await place.once((shown) => !shown.enabled)
  await place.are('paused', 1)
  await comparePlaces(place, { cause: 'destination_disabled', held: 1 })
  assert.equal((await get(`search/deliveries?state=stuck&destination=${place.id}`)).deliveries.length, 1)
})

test('a rate limit: a due delivery that may not be sent yet reports it, with the time at which the delivery became due', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url, { rate_limit: { count: 2, per: 'hour' } })
  await place.send(5)
  await place.are('delivered', 2)
  const [row] = await comparePlaces(place, { cause: 'rate_limit', held: 3 })
  assert.equal(row.held_by.since, row.next_attempt_at)
})

test('requests under way: a due delivery reports that every slot is taken', async (t) => {
  const receiver = await aReceiver(t)
  const place = await aPlace(t, receiver.url, { max_in_flight: 1 })
  await place.send(3)
  await receiver.until(1)
  await comparePlaces(place, { cause: 'in_flight', held: 2 })
  receiver.held[0]?.end()
})

test('a recovering breaker: a due delivery waits for its turn', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  await heldAfterFailures(place, sink)
  await database.run(
    sql`update lanes set memory = jsonb_set(memory::jsonb, '{breaker,state}', '"recovering"')::json where memory->'breaker'->>'state' = 'open'`,
  )
  const due = (await place.list()).filter((row) => Date.parse(row.next_attempt_at) <= world.clock.now())
  await database.run(
    sql`update deliveries set next_attempt_at = ${new Date(world.clock.now())} where state = 'retrying'`,
  )
  assert.ok(due.length < 10)
  await comparePlaces(place, { cause: 'breaker_recovering', held: 10 })
})

test('an order: a delivery that waits behind an earlier one with its key names it', async (t) => {
  const receiver = await aReceiver(t)
  const place = await aPlace(t, receiver.url, { ordering: { path: 'key' }, max_in_flight: 10 })
  await place.send(3, { key: 'a' })
  await receiver.until(1)
  const rows = await place.list()
  const held = await comparePlaces(place, { cause: 'order', held: 2 })
  const head = rows.find((row) => row.state === 'sending')
  assert.deepEqual(
    held.map((row) => row.held_by.behind),
    [head.id, head.id],
  )
  receiver.held[0]?.end()
})

test('these tests covered every cause', () => {
  assert.deepEqual(
    HOLD_CAUSES.filter((cause) => !tried.has(cause)),
    [],
  )
})

test('probe now: the probe is sent immediately and audited, and the waiting deliveries follow when it succeeds', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  await heldAfterFailures(place, sink)
  sink.answer({ status: 200 })
  const before = world.clock.now()
  const { status, body } = await world.admin('POST', `${place.path}/probe`)
  assert.deepEqual([status, body.destination.id], [200, place.id])
  await place.are('delivered', 1)
  assert.equal(world.clock.now(), before, 'no time has passed')
  world.clock.advance(10_000)
  await place.are('delivered', 10)
  await place.once((shown) => shown.breaker.state === 'closed')
  await comparePlaces(place, { cause: null, held: 0 })
  const { audit } = await get(`audit?target=${place.id}&action=probe_destination`)
  assert.equal(audit.length, 1)
})

test('probe now on a lane without an owner: a sender acquires it for the probe', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  await heldAfterFailures(place, sink)
  for (let second = 0; second < 15; second += 1) world.clock.advance(1_000)
  await world.idle()
  const released = await database.many(sql`select 1 from lanes where owner is null and waits_until is not null`)
  assert.ok(released.length > 0)
  const sent = sink.received.length
  await world.admin('POST', `${place.path}/probe`)
  const again = await place.once((shown) => shown.breaker.failures_in_row === 11 && shown.breaker.state === 'open')
  assert.equal(sink.received.length, sent + 1)
  const waitMs = Date.parse(again.breaker.next_probe_at) - world.clock.now()
  assert.ok(waitMs <= 30_000, `a probe that a person requested does not lengthen the wait: ${waitMs}`)
})

test('probe now with nothing due brings the first delivery forward', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  await heldAfterFailures(place, sink)
  await database.run(
    sql`update deliveries set next_attempt_at = ${new Date(world.clock.now() + 3_600_000)} where state = 'retrying'`,
  )
  const sent = sink.received.length
  assert.equal((await world.admin('POST', `${place.path}/probe`)).status, 200)
  await world.idle()
  assert.equal(sink.received.length, sent + 1)
})

test('a probe is refused with the remedy when the destination is off, the breaker is closed, or nothing waits', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  const refused = async (words: RegExp): Promise<void> => {
    const { status, body } = await world.admin('POST', `${place.path}/probe`)
    assert.deepEqual([status, body.reason], [409, 'invalid_state'])
    assert.match(body.error, words)
  }
  await refused(/not open/)
  await heldAfterFailures(place, sink)
  for (const row of await place.list()) await world.admin('POST', `deliveries/${row.id}/cancel`)
  await refused(/No delivery waits/)
  await world.admin('PATCH', place.path, { enabled: false })
  await refused(/is off/)
  assert.deepEqual((await get(`audit?target=${place.id}&action=probe_destination`)).audit, [])
})

test('a test that succeeds closes the breaker and reports it, and the waiting deliveries are sent; a test that fails changes nothing', async (t) => {
  const sink = await aSinkOf(t)
  const place = await aPlace(t, sink.url)
  await heldAfterFailures(place, sink)
  const failed = (await world.admin('POST', `${place.path}/test`, {})).body
  assert.deepEqual([failed.attempt.outcome, failed.closed_breaker], ['failed', false])
  await comparePlaces(place, { cause: 'breaker_open', held: 10 })
  sink.answer({ status: 200 })
  const passed = (await world.admin('POST', `${place.path}/test`, {})).body
  assert.deepEqual([passed.attempt.outcome, passed.closed_breaker], ['succeeded', true])
  world.clock.advance(10_000)
  await place.are('delivered', 10)
  await comparePlaces(place, { cause: null, held: 0 })
  const { audit } = await get(`audit?target=${place.id}&action=test_destination`)
  assert.equal(audit[0].details.closed_breaker, true)
  const again = (await world.admin('POST', `${place.path}/test`, {})).body
  assert.equal(again.closed_breaker, false, 'there was nothing to close')
})
