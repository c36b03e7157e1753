import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import { INLINE_BYTES_MAX } from '../../src/pipeline/deliver/payload-memory.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aReceiver, aRoute, aTestSink, onDeliveryStage } from '../stage/delivery-routes.ts'
import { post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { aKeyOf, aWorkspace } from '../stage/people.ts'

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

const TOO_MANY =
  'max_in_flight is 60, and the plan of the workspace allows at most 50. Send at most 50, or move to a larger plan.'

/** Sets the limit of the plan, and takes it back after the test. */
function allow(t: TestContext, max: number): void {
  const { self_hosted } = world.app.deps.plans
  Object.assign(self_hosted, { max_in_flight: max })
  t.after(() => Object.assign(self_hosted, { max_in_flight: null }))
}

/** A workspace with an endpoint and a destination that gets its events. */
async function aTenant(slug: string, url: string): Promise<{ send: () => Promise<string> }> {
  const of = await aWorkspace(world, database, slug)
  const { headers } = await aKeyOf(world, database, of)
  const make = async (path: string, body: object) => {
    const answer = await world.admin(
      'POST',
      `projects/${encodeId('project', of.defaultProjectId)}/${path}`,
      body,
      headers,
    )
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body
  }
  const { webhook } = await make('webhooks', { name: 'in' })
  await make('destinations', { name: 'out', url })
  return {
    send: async () => {
      const answer = await post(webhook.public_url, '{"n":1}')
      assert.equal(answer.status, 201)
      return answer.body.records[0].id
    },
  }
}

test('a tenant whose destinations take all slots that they can does not delay the next delivery of another tenant', async (t) => {
  const [hanging, sink] = [await aReceiver(t), await aTestSink(t)]
  const greedy = { max_in_flight: 1_000, timeout_ms: 60_000 }
  const first = await aRoute(world, hanging.url, greedy)
  const second = await aRoute(world, hanging.url, { ...greedy, datasets: [first.dataset] })
  const victim = await aTenant('victim', sink.url)
  for (let events = 0; events < 1_000; events += 50) await Promise.all(Array.from({ length: 50 }, () => first.send()))
  await hanging.until(1_500)
  await victim.send()
  await sink.until(1)
  const ids = [first, second].map(({ destination }) => decodeId('destination', destination.id) ?? '')
  const attempts = await database.one<{ all: number; ended: number }>(sql`
    select count(*)::int as all, count(*) filter (where outcome is not null)::int as ended
      from delivery_attempts
     where destination_id = any (${ids}::uuid[])
  `)
  assert.equal(attempts.ended, 0, 'no request of the other tenant had ended')
  assert.ok(attempts.all < 1_750, 'the reserve is free')
  await first.remove()
  await second.remove()
  for (const response of hanging.held) response.end()
  await world.idle()
})

test('payloads of any size arrive byte for byte, whether they come with the start of the attempt or are read later', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { body: 'data' })
  const texts = [10, INLINE_BYTES_MAX - 8, INLINE_BYTES_MAX - 7, 900_000].map(
    (size) => `{"n": "é${'x'.repeat(size - 3)}"}`,
  )
  const sizes = texts.map((text) => Buffer.byteLength(text))
  assert.ok(sizes.includes(INLINE_BYTES_MAX) && sizes.includes(INLINE_BYTES_MAX + 1), sizes.join(' '))
  for (const text of texts) await route.in(await route.send(text), 'delivered')
  assert.deepEqual(
    (await sink.until(texts.length)).map(({ body }) => body),
    texts,
  )
})

test('a destination may ask for as many concurrent requests as the plan allows, and the refusal says how many that is', async (t) => {
  allow(t, 50)
  const destination = { url: 'http://127.0.0.1:9/', name: 'bounded' }
  const refused = await world.admin('POST', 'destinations', { ...destination, max_in_flight: 60 })
  assert.equal(refused.status, 400)
  assert.equal(refused.body.error, TOO_MANY)
  const { body, status } = await world.admin('POST', 'destinations', { ...destination, max_in_flight: 50 })
  assert.equal(status, 201)
  const path = `destinations/${body.destination.id}`
  assert.equal((await world.admin('PATCH', path, { max_in_flight: 60 })).body.error, TOO_MANY)
  assert.equal((await world.admin('GET', path)).body.destination.max_in_flight, 50)
})

test('under a plan that allows fewer, a destination retains its setting and has as many requests as the plan allows', async (t) => {
  const hanging = await aReceiver(t)
  const route = await aRoute(world, hanging.url, { max_in_flight: 20 })
  allow(t, 12)
  const { max_in_flight } = await route.patch({ max_in_flight: 20, name: 'renamed' })
  assert.equal(max_in_flight, 20, 'a form sends the saved value again')
  await Promise.all(Array.from({ length: 20 }, () => route.send()))
  await hanging.until(12)
  const begun = await database.one<{ count: number }>(sql`
    select count(*)::int as count
      from deliveries
     where destination_id = ${decodeId('destination', route.destination.id) ?? ''}
       and state = 'sending'
  `)
  assert.equal(begun.count, 12)
  await route.remove()
  for (const response of hanging.held) response.end()
  await world.idle()
})
