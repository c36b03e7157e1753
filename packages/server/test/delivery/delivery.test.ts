import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { secretPlace } from '../../src/resources/secret-place.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aReceiver, aRoute, aTestSink, MOVES, movesSeen, onDeliveryStage } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

// The request

test('the body is exactly the envelope, its members in order and the payload byte for byte', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const text = '{ "z":1, "a": 12345678901234567890, "a":"\\u00e9", "__proto__": {"x": 1} }'
  const receivedAt = new Date(world.clock.now()).toISOString()
  const record = await route.send(text)
  const [received] = await sink.until(1)
  assert.equal(
    received?.body,
    `{"id":"${record}","dataset":"${route.dataset}","received_at":"${receivedAt}","data":${text}}`,
  )
})

test('every header has its specified value, and each signature verifies', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { headers: { 'X-Team': 'orders', Authorization: 'Bearer mine' } })
  const record = await route.send('{"n":1}', { 'Service-Hops': '2' })
  const [received] = await sink.until(1)
  assert.ok(received)
  const { headers, body } = received
  const attempt = (await route.in(record, 'delivered')).attempts[0]
  const time = String(Math.floor(world.clock.wall() / 1_000))
  const hex = createHmac('sha256', route.secret).update(`${time}.${body}`).digest('hex')
  const standardKey = Buffer.from(route.secret.slice('whsec_'.length), 'base64')
  const standard = createHmac('sha256', standardKey).update(`${record}.${time}.${body}`).digest('base64')
  const {
    host,
    connection: _connection,
    'content-length': length,
    'service-chain': chain,
    traceparent,
    ...rest
  } = headers
  assert.equal(host, new URL(sink.url).host)
  assert.equal(length, String(Buffer.byteLength(body)))
  assert.match(String(chain), /^[\w-]{16}$/)
  assert.match(String(traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  assert.deepEqual(rest, {
    'content-type': 'application/json',
    'user-agent': 'Postroad/0.1.0',
    'service-event-id': record,
    'service-delivery-id': attempt.id,
    'service-attempt': '1',
    'service-dataset': route.dataset,
    'service-hops': '3',
    'service-signature': `t=${time},v1=${hex}`,
    'webhook-id': record,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${standard}`,
    'x-team': 'orders',
    authorization: 'Bearer mine',
  })
})

test('signing.header chooses the signature header', async (t) => {
  const sink = await aTestSink(t)
  const names = ['service-signature', 'webhook-id', 'webhook-signature', 'webhook-timestamp']
  const expected = { service: ['service-signature'], standard: names.slice(1), both: names }
  for (const [header, sent] of Object.entries(expected)) {
    const count = sink.received.length
    const route = await aRoute(world, sink.url, { signing: { header } })
    await route.send()
    const received = (await sink.until(count + 1))[count]
    assert.deepEqual(
      names.filter((name) => received?.headers[name] !== undefined),
      sent,
    )
  }
})

test('while a previous secret overlaps, each signature header has one signature by each secret', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const id = decodeId('destination', route.destination.id) ?? ''
  const previous = `whsec_${Buffer.from('the previous secret').toString('base64')}`
  const sealed = world.storage.cipher.seal(previous, secretPlace('destinations.previous_secret', id))
  const until = new Date(world.clock.now() + 3_600_000)
  await database.run(
    sql`update destinations set previous_secret = ${sealed}, previous_secret_expires_at = ${until} where id = ${id}`,
  )
  await route.send()
  const [first] = await sink.until(1)
  assert.ok(first)
  const [, time] = /^t=(\d+),v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/.exec(String(first.headers['service-signature'])) ?? []
  const hex = createHmac('sha256', previous).update(`${time}.${first.body}`).digest('hex')
  assert.ok(String(first.headers['service-signature']).endsWith(`,v1=${hex}`))
  assert.equal(String(first.headers['webhook-signature']).split(' ').length, 2)
  world.clock.advance(3_600_000)
  await route.send()
  const [, second] = await sink.until(2)
  assert.match(String(second?.headers['service-signature']), /^t=\d+,v1=[0-9a-f]{64}$/)
})

test('headers that Postroad sets, hop-by-hop headers and malformed headers are refused when they are saved', async (t) => {
  const sink = await aTestSink(t)
  const reserved = [
    'Service-Signature',
    'service-event-id',
    'Webhook-Id',
    'webhook-signature',
    'Content-Type',
    'Content-Encoding',
    'Content-Range',
    'Content-Transfer-Encoding',
    'User-Agent',
    'Host',
  ]
  const hopByHop = [
    'Connection',
    'Transfer-Encoding',
    'Content-Length',
    'Upgrade',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Expect',
    'Proxy-Authorization',
  ]
  for (const name of [...reserved, ...hopByHop, 'bad name', 'x:y']) {
    const answer = await world.admin('POST', 'destinations', { name: 'x', url: sink.url, headers: { [name]: 'v' } })
    assert.equal(answer.status, 400, name)
    assert.match(answer.body.error, /^headers[.:]/)
  }
  for (const value of ['a\r\nX-Evil: 1', 'a\0', '\u{1f600}']) {
    assert.equal(
      (await world.admin('POST', 'destinations', { name: 'x', url: sink.url, headers: { 'X-A': value } })).status,
      400,
    )
  }
})

test('an attempt is committed before its request is sent', async (t) => {
  const seen: object[] = []
  const receiver = await aReceiver(t, (request, response) => {
    const id = decodeId('attempt', String(request.headers['service-delivery-id'])) ?? null
    void database
      .many(
        sql`select a.outcome, a.number, d.state from delivery_attempts a join deliveries d on d.id = a.delivery_id where a.id = ${id}`,
      )
      .then((rows) => {
        seen.push(...rows)
        response.end()
      })
  })
  const route = await aRoute(world, receiver.url)
  await route.in(await route.send(), 'delivered')
  assert.deepEqual(seen, [{ outcome: null, number: 1, state: 'sending' }])
})

// Bounds and fairness

test('max_in_flight is never exceeded', async (t) => {
  let [now, most] = [0, 0]
  const receiver = await aReceiver(t, (_request, response) => {
    now += 1
    most = Math.max(most, now)
    setTimeout(() => {
      now -= 1
      response.end()
    }, 15)
  })
  const route = await aRoute(world, receiver.url, { max_in_flight: 3 })
  const records = await Promise.all(Array.from({ length: 24 }, () => route.send()))
  for (const record of records) await route.in(record, 'delivered')
  assert.equal(most, 3)
})

test('a dead destination with a backlog delays no other destination', async (t) => {
  const [hanging, sink] = [await aReceiver(t), await aTestSink(t)]
  const dead = await aRoute(world, hanging.url, { timeout_ms: 60_000, max_in_flight: 5 })
  await Promise.all(Array.from({ length: 60 }, () => dead.send()))
  await hanging.until(5)
  const route = await aRoute(world, sink.url)
  const records = await Promise.all(Array.from({ length: 20 }, () => route.send()))
  await sink.until(20)
  assert.equal(hanging.held.length, 5)
  await dead.remove()
  for (const response of hanging.held) response.end()
  for (const record of records) await route.in(record, 'delivered')
})

test('no transition occurred that the table does not have', async () => {
  assert.deepEqual(
    (await movesSeen(database)).filter((move) => !MOVES.includes(move)),
    [],
  )
})
