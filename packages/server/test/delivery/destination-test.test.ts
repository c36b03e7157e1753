import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { secretPlace } from '../../src/resources/secret-place.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The test of a destination by a request, and its health. */
let world: World
let database: Database
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { loops: [] },
)

const ask = (id: string, body: object = {}): Promise<Answer> => world.admin('POST', `destinations/${id}/test`, body)
const stored = () =>
  database.one(
    sql`select (select count(*) from deliveries) as deliveries, (select count(*) from delivery_attempts) as attempts, (select count(*) from records) as records`,
  )

test('a test sends a signed sample with the headers of the destination, returns the answer, and stores nothing', async () => {
  const { destination, secret } = await aDestination(world, {
    url: sink.url,
    datasets: ['Orders'],
    headers: { 'X-Own': 'mine' },
  })
  sink.answer({ status: 202, headers: { 'x-theirs': 'yes' }, body: 'taken' })
  const had = await stored()
  const { status, body } = await ask(destination.id)
  assert.equal(status, 200)
  const { id, event_id, started_at, duration_ms, response_headers, ...rest } = body.attempt
  assert.deepEqual(rest, {
    outcome: 'succeeded',
    response_status: 202,
    response_body: 'taken',
    response_truncated: false,
    error_code: null,
    error_detail: null,
  })
  assert.deepEqual(
    [
      id.slice(0, 4),
      event_id.slice(0, 4),
      response_headers['x-theirs'],
      typeof duration_ms,
      Date.parse(started_at) > 0,
    ],
    ['att_', 'rec_', 'yes', 'number', true],
  )
  const got = sink.received.at(-1)
  assert.ok(got)
  const sent = JSON.parse(got.body)
  assert.deepEqual(
    [Object.keys(sent), sent.id, sent.dataset],
    [['id', 'dataset', 'received_at', 'data'], event_id, 'Orders'],
  )
  assert.deepEqual(
    [got.headers['x-own'], got.headers['service-event-id'], got.headers['service-delivery-id']],
    ['mine', event_id, id],
  )
  const [t = '', v1] = String(got.headers['service-signature']).split(',')
  assert.equal(
    v1,
    `v1=${createHmac('sha256', secret)
      .update(`${t.slice(2)}.${got.body}`)
      .digest('hex')}`,
  )
  assert.deepEqual(await stored(), had)
  const [row] = (await world.admin('GET', `audit?target=${destination.id}`)).body.audit
  assert.deepEqual(
    [row.action, row.details],
    ['test_destination', { outcome: 'succeeded', response_status: 202, error_code: null }],
  )
})

const AUTHS = [
  {
    auth: { kind: 'bearer', token: 'token-71c2' },
    template: { text: 'Order {{ data.order }} of {{ dataset }}' },
    header: 'Bearer token-71c2',
    body: '{"text":"Order 7 of Orders"}',
  },
  {
    auth: { kind: 'basic', username: 'robot', password: 'pass' },
    template: ['{{ data.order }}'],
    header: `Basic ${Buffer.from('robot:pass').toString('base64')}`,
    body: '[7]',
  },
  {
    auth: { kind: 'payload', secret: 'routing-key' },
    template: { key: '{{ secret }}', order: '{{ data.order }}' },
    header: undefined,
    body: '{"key":"routing-key","order":7}',
  },
] as const

for (const { auth, template, header, body: rendered } of AUTHS) {
  test(`with auth ${auth.kind} and a payload template a test sends the same credential and the same signed body as a delivery`, async () => {
    const { destination, secret } = await aDestination(world, {
      url: sink.url,
      datasets: ['Orders'],
      auth,
      payload_template: template,
      headers: { 'X-Own': 'mine' },
    })
    sink.answer({ status: 200 })
    const had = sink.received.length
    const record = (await post(`${world.endpoint}/Orders`, '{"order":7}')).body.records[0].id
    await world.idle()
    const delivered = sink.received
      .slice(had)
      .find((one) => one.headers['service-event-id'] === record && one.body === rendered)
    assert.ok(delivered !== undefined, 'it was delivered')
    const { attempt } = (await ask(destination.id, { record_id: record })).body
    assert.deepEqual([attempt.outcome, attempt.event_id], ['succeeded', record])
    const got = sink.received.at(-1)
    assert.ok(got)
    assert.deepEqual(
      [got.body, got.headers.authorization, got.headers['x-own'], got.headers['service-delivery-id']],
      [rendered, header, 'mine', attempt.id],
    )
    assert.deepEqual([delivered.body, delivered.headers.authorization], [got.body, got.headers.authorization])
    const [t = '', v1] = String(got.headers['service-signature']).split(',')
    assert.equal(
      v1,
      `v1=${createHmac('sha256', secret)
        .update(`${t.slice(2)}.${got.body}`)
        .digest('hex')}`,
    )
    const reported = JSON.stringify([attempt, (await world.admin('GET', `audit?target=${destination.id}`)).body])
    for (const held of ['token-71c2', 'routing-key', 'robot:pass']) assert.ok(!reported.includes(held))
    await world.admin('DELETE', `destinations/${destination.id}`)
  })
}

test('a header that was saved before Postroad refused it, such as Content-Encoding, is no longer sent', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['Nothing'] })
  const id = decodeId('destination', destination.id) ?? ''
  const saved = world.storage.cipher.seal(
    JSON.stringify({ 'Content-Encoding': 'gzip', 'X-Own': 'mine' }),
    secretPlace('destinations.headers', id),
  )
  await database.run(sql`update destinations set headers = ${saved} where id = ${id}`)
  sink.answer({ status: 200 })
  assert.equal((await ask(destination.id)).body.attempt.outcome, 'succeeded')
  const { headers } = sink.received.at(-1) ?? assert.fail('Nothing came.')
  assert.deepEqual([headers['content-encoding'], headers['x-own']], [undefined, 'mine'])
})

test('a test may send a record of the project instead; an unknown record gets 404', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['Nothing'] })
  const record = (await post(world.endpoint, '{"order":  7}')).body.records[0].id
  assert.equal((await ask(destination.id, { record_id: record })).body.attempt.event_id, record)
  assert.ok(sink.received.at(-1)?.body.endsWith('"data":{"order":  7}}'), 'byte for byte')
  assert.equal((await ask(destination.id, { record_id: `rec_${'0'.repeat(26)}` })).status, 404)
})

test('a disabled destination can be tested, and a 410 in a test does not disable a destination', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['Nothing'], enabled: false })
  sink.answer({ status: 410 })
  assert.deepEqual(
    (({ outcome, error_code, response_status }) => [outcome, error_code, response_status])(
      (await ask(destination.id)).body.attempt,
    ),
    ['failed', 'bad_status', 410],
  )
  const on = await aDestination(world, { url: sink.url, datasets: ['Nothing'] })
  await ask(on.destination.id)
  assert.equal((await world.admin('GET', `destinations/${on.destination.id}`)).body.destination.enabled, true)
})

test('the egress guard applies to a test, and a destination that does not answer ends with its timeout', async (t) => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['Nothing'] })
  await database.run(sql`update destinations set url = 'http://169.254.169.254/' where name = ${destination.name}`)
  const blocked = (await ask(destination.id)).body.attempt
  assert.deepEqual([blocked.outcome, blocked.error_code], ['failed', 'blocked_address'])
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close().closeAllConnections())
  const slow = await aDestination(world, {
    url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`,
    datasets: ['Nothing'],
    timeout_ms: 1_000,
  })
  const late = (await ask(slow.destination.id)).body.attempt
  assert.deepEqual([late.outcome, late.error_code, late.response_status], ['failed', 'timeout', null])
})

test('a test that a client repeats with its Idempotency-Key sends one request and gets the first answer', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['Nothing'] })
  const before = sink.received.length
  const send = () => world.admin('POST', `destinations/${destination.id}/test`, {}, { 'idempotency-key': 'k' })
  const [first, second] = [await send(), await send()]
  assert.equal(first.status, 200)
  assert.deepEqual(second.body, first.body)
  assert.equal(sink.received.length - before, 1)
})

test('the health of a destination reports the waiting deliveries and their age, the next attempt, and the results of attempts', async () => {
  const { destination } = await aDestination(world, { url: sink.url, datasets: ['Watched'], enabled: false })
  const accepted = world.clock.now()
  for (let n = 0; n < 3; n += 1) await post(`${world.endpoint}/Watched`, '{}')
  const health = async (query = ''): Promise<Answer['body']> =>
    (await world.admin('GET', `destinations/${destination.id}/health${query}`)).body.health
  const off = await health()
  assert.deepEqual(
    [off.enabled, off.disabled_reason, off.backlog, off.success_ratio, off.next_attempt_at],
    [false, 'by_hand', { pending: 0, retrying: 0, paused: 3, held: 3, oldest_accepted_at: null }, null, null],
  )
  const rows = await database.many<{ id: string }>(sql`select id from deliveries where state = 'paused' order by id`)
  const due = new Date(accepted + 60_000)
  await database.run(
    sql`update deliveries set state = 'retrying', pause_reason = null, next_attempt_at = ${due} where state = 'paused'`,
  )
  const on = await health('?hours=1')
  assert.equal(rows.length, 3)
  assert.equal(on.breaker.state, 'closed')
  assert.deepEqual(
    [on.backlog.retrying, on.backlog.paused, on.next_attempt_at],
    [3, 0, null],
    'nothing is sent to a destination that is off',
  )
  assert.ok(Math.abs(Date.parse(on.backlog.oldest_accepted_at) - accepted) < 1_000)
  // The counts that the rollup writer has written for this destination, and for another one in the same project.
  world.clock.advance(90_000)
  const at = new Date(Math.floor(world.clock.now() / 60_000) * 60_000)
  await database.run(sql`
    insert into destination_rollups (workspace_id, project_id, destination_id, span_seconds, at, succeeded, failed, interrupted, gave_up, open, response_ms, delivery_ms)
    select t.workspace_id, t.project_id, t.id, 60, ${at}, case when t.name = ${destination.name} then 3 else 50 end, 1, 0, 1, 0, '{0,0,0,0,4}', '{}' from destinations t
  `)
  const counted = await health('?hours=1')
  assert.deepEqual(
    [counted.attempts, counted.success_ratio],
    [{ succeeded: 3, failed: 1, interrupted: 0, gave_up: 1 }, 0.75],
  )
  assert.deepEqual([counted.response_ms.p50 >= 4 && counted.response_ms.p95 <= 6, counted.delivery_ms], [true, null])
  // The same counts over time, by the minute, and by the hour where the range is longer.
  for (const [hours, seconds] of [
    [1, 60],
    [24, 3_600],
  ] as const) {
    const { bucket_seconds, points, from, to } = await health(`?hours=${hours}`)
    assert.equal(bucket_seconds, seconds)
    assert.deepEqual([points[0].at, points.length], [from, (Date.parse(to) - Date.parse(from)) / seconds / 1_000])
    const begin = Math.floor(at.getTime() / seconds / 1_000) * seconds * 1_000
    assert.deepEqual(
      points.filter((point: { succeeded: number }) => point.succeeded > 0),
      [{ at: new Date(begin).toISOString(), succeeded: 3, failed: 1, interrupted: 0 }],
    )
  }
  for (const hours of ['0', '169', 'x'])
    assert.equal((await world.admin('GET', `destinations/${destination.id}/health?hours=${hours}`)).status, 400)
})
