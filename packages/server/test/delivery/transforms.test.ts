import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aName } from '../stage/fixtures.ts'
import { advanceTo, aRoute, aTestSink, onDeliveryStage, type Delivery } from '../stage/delivery-routes.ts'
import type { Answer, World } from '../stage/harness.ts'

/** Transforms: named code with versions, its test without effects, and the requests that it makes for a destination. */

let world: World
onDeliveryStage((made) => {
  ;({ world } = made)
})

async function aTransform(code: string, members: object = {}): Promise<Answer['body']> {
  const answer = await world.admin('POST', 'transforms', { name: aName('transform'), code, ...members })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  return answer.body.transform
}
const refusalOf = ({ status, body }: Answer): readonly unknown[] => [status, body.reason, body.error]
const lastOf = ({ attempts }: Delivery): Answer['body'] => attempts.at(-1)

test('a transform makes the body and the headers of the request, and the signature covers them', async (t) => {
  const sink = await aTestSink(t)
  const { id } = await aTransform(`export function transform(event) {
    event.body.data = { total: event.data.n * 2, at: Date.now() === Date.parse(event.received_at) }
    event.headers['x-dataset'] = event.dataset
    return event
  }`)
  const route = await aRoute(world, sink.url, { transform_id: id, headers: { 'X-Own': 'own' } })
  const record = await route.send('{"n":21}')
  const delivery = await route.in(record, 'delivered')
  const received = sink.received.at(-1) ?? assert.fail()
  const body = JSON.parse(received.body)
  assert.deepEqual(body.data, { total: 42, at: true })
  assert.equal(body.id, record)
  assert.equal(received.headers['x-dataset'], route.dataset)
  assert.equal(received.headers['x-own'], 'own')
  assert.equal(received.headers['content-type'], 'application/json')
  const { attempt, body: shown } = (await world.admin('GET', `attempts/${lastOf(delivery).id}`)).body
  assert.deepEqual([attempt.request.body_bytes, shown.as_sent, shown.text], [received.body.length, true, received.body])
})

test('a text is sent as it is, with the content type of the transform or of a text', async (t) => {
  const sink = await aTestSink(t)
  const { id } = await aTransform(
    "function transform({ data }) { return data.n === 1 ? { body: 'n=1' } : { body: '<n/>', headers: { 'Content-Type': 'text/xml' } } }",
  )
  const route = await aRoute(world, sink.url, { transform_id: id, body: 'data' })
  await route.in(await route.send('{"n":1}'), 'delivered')
  await route.in(await route.send('{"n":2}'), 'delivered')
  assert.deepEqual(
    sink.received.map(({ body, headers }) => [body, headers['content-type']]),
    [
      ['n=1', 'text/plain; charset=utf-8'],
      ['<n/>', 'text/xml'],
    ],
  )
})

test('null sends nothing: the delivery is canceled, its attempt says why, and a replay runs the code again', async (t) => {
  const sink = await aTestSink(t)
  const { id } = await aTransform('function transform() { return null }')
  const route = await aRoute(world, sink.url, { transform_id: id })
  const delivery = await route.in(await route.send(), 'cancelled')
  assert.equal(sink.received.length, 0)
  assert.deepEqual(
    [lastOf(delivery).outcome, lastOf(delivery).error_code, lastOf(delivery).error_detail],
    ['succeeded', null, 'The transform returned null, so no request was sent.'],
  )
  assert.equal(
    (await world.admin('PATCH', `transforms/${id}`, { code: 'function transform(e) { return e }' })).status,
    200,
  )
  await route.replay(delivery)
  await world.idle()
  assert.equal(sink.received.length, 1)
})

test('a transform that fails is a failed attempt with the line, which is retried and delivered after the fix', async (t) => {
  const sink = await aTestSink(t)
  const { id } = await aTransform('export function transform(event) {\n  return { body: event.data.user.name }\n}')
  const route = await aRoute(world, sink.url, { transform_id: id, retry: { schedule_seconds: [0, 60, 60] } })
  const record = await route.send()
  const failed = await route.in(record, 'retrying')
  assert.deepEqual(
    [lastOf(failed).outcome, lastOf(failed).error_code, lastOf(failed).error_detail],
    ['failed', 'transform_failed', "TypeError: cannot read property 'name' of undefined (line 2, column 18)"],
  )
  const fixed = await world.admin('PATCH', `transforms/${id}`, {
    code: 'const transform = (event) => ({ body: { ok: true } })',
  })
  assert.equal(fixed.body.transform.version, 2)
  advanceTo(world, failed)
  await route.in(record, 'delivered')
  assert.deepEqual(
    sink.received.map(({ body }) => body),
    ['{"ok":true}'],
  )
})

test('each kind of failure has a sentence', async (t) => {
  const sink = await aTestSink(t)
  for (const [code, sentence] of [
    ['for (;;);', /too many steps/],
    ['const a = []; for (;;) a.push({})', /more memory/],
    ['return 5', /returned a number/],
    ['', /returned nothing/],
    ['return []', /returned a list/],
    ['return {}', /no member body/],
    ['return { body: 1, headers: { a: 1 } }', /the value of a is not a text/],
    ['return { body: 1, headers: { "service-signature": "x" } }', /set by Postroad/],
    ['return { body: "x".repeat(6291456) }', /more than 6291456 bytes/],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- one sink for all
    const { id } = await aTransform(`function transform() { ${code} }`)
    // oxlint-disable-next-line no-await-in-loop -- as above
    const route = await aRoute(world, sink.url, { transform_id: id, retry: { schedule_seconds: [0] } })
    // oxlint-disable-next-line no-await-in-loop -- as above
    const delivery = await route.in(await route.send(), 'failed')
    assert.equal(lastOf(delivery).error_code, 'transform_failed', code)
    assert.match(lastOf(delivery).error_detail, sentence)
  }
  assert.equal(sink.received.length, 0)
})

test('a transform reads the request behind the event', async (t) => {
  const sink = await aTestSink(t)
  const { id } = await aTransform(
    "function transform({ request }) { return { body: [request.method, request.headers['x-kind']] } }",
  )
  const route = await aRoute(world, sink.url, { transform_id: id })
  await route.in(await route.send('{}', { 'x-kind': 'paid' }), 'delivered')
  assert.equal(sink.received[0]?.body, '["POST","paid"]')
})

test('code makes versions that never change, and an older one can be current again', async () => {
  const one = await aTransform('const transform = () => ({ body: 1 })')
  const path = `transforms/${one.id}`
  await world.admin('PATCH', path, { code: 'const transform = (event: unknown) => ({ body: 2 })', language: 'ts' })
  const back = (await world.admin('PATCH', path, { version: 1 })).body.transform
  assert.deepEqual([back.version, back.language, back.code], [1, 'js', one.code])
  const third = (await world.admin('PATCH', path, { code: 'const transform = () => ({ body: 3 })' })).body.transform
  assert.equal(third.version, 3)
  const { versions } = (await world.admin('GET', `${path}/versions`)).body
  assert.deepEqual(
    versions.map(({ version, language }: Answer['body']) => [version, language]),
    [
      [3, 'js'],
      [2, 'ts'],
      [1, 'js'],
    ],
  )
  assert.match((await world.admin('GET', `${path}/versions/2`)).body.version.code, /unknown/)
  const none = await world.admin('PATCH', path, { version: 9 })
  assert.deepEqual(refusalOf(none), [
    400,
    'invalid_request',
    'version: this transform has no version 9. List its versions.',
  ])
})

test('code that cannot run is refused with its line', async () => {
  const answer = await world.admin('POST', 'transforms', {
    name: aName('bad'),
    code: 'function transform() {\n  return 1 +* 2\n}',
  })
  assert.deepEqual(refusalOf(answer), [
    400,
    'invalid_request',
    "code: SyntaxError: unexpected token in expression: '*' (line 2, column 13)",
  ])
})

test('a transform that a destination runs is not deleted, and a deleted one comes back with its versions', async (t) => {
  const sink = await aTestSink(t)
  const { id, name } = await aTransform('const transform = (event) => event')
  const route = await aRoute(world, sink.url, { transform_id: id })
  const { used_by: users } = (await world.admin('GET', `transforms/${id}`)).body.transform
  assert.deepEqual(users, [{ kind: 'destination', id: route.destination.id, name: route.destination.name }])
  assert.deepEqual(refusalOf(await world.admin('DELETE', `transforms/${id}`)).slice(0, 2), [409, 'transform_in_use'])
  assert.equal((await route.patch({ transform_id: null })).transform_id, null)
  const { deletion } = (await world.admin('DELETE', `transforms/${id}`)).body
  assert.equal((await world.admin('GET', `transforms/${id}`)).status, 404)
  assert.deepEqual((await world.admin('POST', `deletions/${deletion.id}/restore`)).body.restored, {
    kind: 'transform',
    id,
    name,
  })
  assert.equal((await world.admin('GET', `transforms/${id}/versions/1`)).status, 200)
})

test('a destination refuses a transform that it could not run', async () => {
  const { id } = await aTransform('const transform = (event) => event')
  const create = (members: object) =>
    world.admin('POST', 'destinations', {
      name: aName('to'),
      url: 'https://example.com/',
      transform_id: id,
      ...members,
    })
  for (const [members, error] of [
    [{ transform_id: 'trf_00000000000000000000000000' }, /no transform with this id/],
    [{ payload_template: { a: 1 } }, /exclude each other/],
    [{ body: 'as_received' }, /changes the body envelope or data/],
    [
      { config: { kind: 'postgres', table: 'events' }, url: 'postgres://example.com/db' },
      /a transform makes HTTP requests/,
    ],
  ] as const) {
    // oxlint-disable-next-line no-await-in-loop -- few
    const answer = await create(members)
    assert.equal(answer.status, 400, JSON.stringify(answer.body))
    assert.match(answer.body.error, error)
  }
})

test('a test shows the result, the differences, the lines of the log and the place of an error', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const record_id = await route.send('{"n":12,"keep":true}')
  const run = async (code: string, more: object = {}) =>
    (await world.admin('POST', 'transforms/test', { code, record_id, body: 'data', ...more })).body
  const done = await run(
    'function transform(event) { console.log("n", event.data.n); event.body.n = 13; delete event.body.keep; return event }',
  )
  assert.deepEqual([done.ok, done.error, done.lines, done.result.body], [true, null, ['n 12'], { n: 13 }])
  assert.deepEqual(done.changes, [
    { path: '/body/n', before: 12, after: 13 },
    { path: '/body/keep', before: true },
  ])
  assert.ok(done.time_us > 0)
  const failed = await run('function transform(event) {\n  console.log("before")\n  throw new Error("stop")\n}')
  assert.deepEqual([failed.ok, failed.result, failed.lines], [false, null, ['before']])
  assert.deepEqual(failed.error, { kind: 'threw', message: 'Error: stop', line: 3, column: 13 })
  const payload = await world.admin('POST', 'transforms/test', {
    code: 'const transform = () => null',
    payload: { a: 1 },
  })
  assert.deepEqual([payload.body.ok, payload.body.result, payload.body.before.data], [true, null, { a: 1 }])
})
