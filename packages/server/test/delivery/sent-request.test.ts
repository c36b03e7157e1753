import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { signedIn } from '../stage/fixtures.ts'
import { ask, theWorkspace } from '../stage/people.ts'
import { aRoute, aTestSink, onDeliveryStage, type Delivery, type Route } from '../stage/delivery-routes.ts'
import type { Answer, Received, Sink, World } from '../stage/harness.ts'

/** The request of an attempt as it was sent: stored without its body, which is rendered again and proven by its digest. */

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

const DOTS = '••••••••'
const TEMPLATE = { text: '{{ data.n }}' }

const attemptOf = async (delivery: Delivery): Promise<Answer['body']> => {
  const answer = await world.admin('GET', `attempts/${delivery.attempts[0].id}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}

/** The delivery of a delivered event, and the request that the receiver got. */
async function sent(
  route: Route,
  sink: Sink,
): Promise<{ readonly delivery: Delivery; readonly received: Received; readonly record: string }> {
  const record = await route.send('{"n":12345678901234567890}')
  const delivery = await route.in(record, 'delivered')
  return { delivery, record, received: sink.received.at(-1) ?? assert.fail() }
}

/** The headers that the connection adds. */
const OF_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding'])

test('an attempt shows its URL, every header that the receiver got, and the digest of its body; values of custom headers are dots', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, `${sink.url}hook?x=1`, {
    headers: { 'X-Tenant': 'nobody-sees' },
    auth: { kind: 'bearer', token: 'nobody-sees-either' },
  })
  const { delivery, received } = await sent(route, sink)
  const { request } = delivery.attempts[0]
  assert.deepEqual([request.method, request.url], ['POST', `${sink.url}hook?x=1`])
  const expected = Object.fromEntries(Object.entries(received.headers).filter(([name]) => !OF_CONNECTION.has(name)))
  assert.deepEqual(request.headers, { ...expected, 'x-tenant': DOTS, authorization: DOTS })
  assert.match(request.headers['service-signature'], /^t=\d+,v1=[0-9a-f]{64}$/)
  assert.equal(request.body_sha256, createHash('sha256').update(received.body).digest('hex'))
  assert.equal(request.body_bytes, Buffer.byteLength(received.body))
  const { attempt, body } = await attemptOf(delivery)
  assert.deepEqual(attempt, delivery.attempts[0])
  assert.deepEqual(body, { as_sent: true, text: received.body, base64: null, difference: null })
  assert.ok(!JSON.stringify([delivery, attempt, body]).includes('nobody-sees'))
})

test('the stored request stays the same after a rotation of the secret and with another URL', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const { delivery, received } = await sent(route, sink)
  const headers = await signedIn(world, await theWorkspace(database))
  const rotated = await ask(world, `POST destinations/${route.destination.id}/rotate-secret`, {
    headers,
    body: { overlap_hours: 0 },
  })
  assert.equal(rotated.status, 200)
  await route.patch({ url: 'https://example.com/', signing: { header: 'standard' } })
  const { attempt, body } = await attemptOf(delivery)
  assert.equal(attempt.request.url, sink.url)
  assert.equal(attempt.request.headers['service-signature'], received.headers['service-signature'])
  assert.equal(body.as_sent, true)
})

test('a rendered body is the one that was sent until the template changes; then the answer reports the difference', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { payload_template: TEMPLATE })
  const { delivery, received } = await sent(route, sink)
  assert.deepEqual((await attemptOf(delivery)).body, {
    as_sent: true,
    text: received.body,
    base64: null,
    difference: null,
  })
  await route.patch({ payload_template: { text: 'now {{ data.n }}' } })
  const changed = (await attemptOf(delivery)).body
  assert.deepEqual([changed.as_sent, changed.difference], [false, 'template_changed'])
  assert.match(changed.text, /^\{"text":"now /)
  await route.patch({ payload_template: null })
  const removed = (await attemptOf(delivery)).body
  assert.deepEqual([removed.as_sent, removed.difference], [false, 'template_changed'])
  await route.patch({ payload_template: TEMPLATE })
  assert.equal((await attemptOf(delivery)).body.as_sent, true, 'the same template once more')
})

test('an envelope is the body that was sent, also after the destination got a template or was deleted', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const { delivery, received } = await sent(route, sink)
  await route.patch({ payload_template: TEMPLATE })
  assert.deepEqual((await attemptOf(delivery)).body, {
    as_sent: true,
    text: received.body,
    base64: null,
    difference: null,
  })
  await route.remove()
  assert.deepEqual((await attemptOf(delivery)).body, {
    as_sent: true,
    text: received.body,
    base64: null,
    difference: null,
  })
})

test('once a destination is deleted, the body of its template cannot be shown', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { payload_template: TEMPLATE })
  const { delivery } = await sent(route, sink)
  await route.remove()
  assert.deepEqual((await attemptOf(delivery)).body, {
    as_sent: false,
    text: null,
    base64: null,
    difference: 'destination_deleted',
  })
})

test('a secret in a template is shown as dots, and the body is still proven', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, {
    auth: { kind: 'payload', secret: 'nobody-sees' },
    payload_template: { key: '{{ secret }}' },
  })
  const { delivery, received } = await sent(route, sink)
  assert.equal(received.body, '{"key":"nobody-sees"}')
  assert.deepEqual((await attemptOf(delivery)).body, {
    as_sent: true,
    text: `{"key":"${DOTS}"}`,
    base64: null,
    difference: null,
  })
  await route.patch({ auth: { kind: 'payload', secret: 'another' } })
  assert.equal((await attemptOf(delivery)).body.difference, 'template_changed')
})

test('an attempt that found no connection has its request; one whose body could not be rendered has none', async () => {
  const nowhere = await aRoute(world, 'http://127.0.0.1:9/')
  const refused = (await nowhere.in(await nowhere.send(), 'retrying')).attempts[0]
  assert.deepEqual([refused.error_code, refused.request.url], ['connection_refused', 'http://127.0.0.1:9/'])
  const broken = await aRoute(world, 'http://127.0.0.1:9/', { payload_template: { a: '{{ (1..100000000) | size }}' } })
  const delivery = await broken.in(await broken.send('{"a":1}'), 'retrying')
  assert.deepEqual([delivery.attempts[0].error_code, delivery.attempts[0].request], ['template_failed', null])
  assert.equal((await attemptOf(delivery)).body, null)
  assert.equal(
    (
      await world.admin(
        'GET',
        `attempts/${delivery.attempts[0].id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0'))}`,
      )
    ).status,
    404,
  )
})
