import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aRoute, aTestSink, onDeliveryStage, type Route } from '../stage/delivery-routes.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { anAuthority } from '../stage/tls-files.ts'

/** The values of custom headers are write-only, and are sent only to the destination for which they were saved. */

let world: World

onDeliveryStage((made) => {
  ;({ world } = made)
})

const HELD = { has_value: true }
const lastOf = (sink: Sink) => sink.received.at(-1)?.headers ?? {}
const patch = (route: Route, members: object): Promise<Answer> =>
  world.admin('PATCH', `destinations/${route.destination.id}`, members)

test('no answer shows the value of a header, only that the header has one', async (t) => {
  const sink = await aTestSink(t)
  const headers = { 'X-Team': 'value-nobody-sees', Authorization: 'Bearer value-nobody-sees' }
  const route = await aRoute(world, sink.url, { headers })
  assert.deepEqual(route.destination.headers, { 'X-Team': HELD, Authorization: HELD })
  const { id } = route.destination
  const record = await route.send()
  await sink.until(1)
  assert.equal(lastOf(sink)['x-team'], 'value-nobody-sees')
  for (const answer of [
    await world.admin('GET', `destinations/${id}`),
    await world.admin('GET', 'destinations'),
    await patch(route, { name: 'renamed' }),
    await patch(route, { headers: { 'X-Team': 'value-nobody-sees-either' } }),
    await world.admin('POST', 'destinations/preview', { record_id: record, destination_id: id }),
    await world.admin('POST', `destinations/${id}/test`, {}),
    await world.admin('GET', 'audit'),
  ]) {
    assert.equal(answer.status, 200)
    assert.ok(!JSON.stringify(answer.body).includes('nobody-sees'), JSON.stringify(answer.body))
  }
})

test('a header without a value in the change retains its value; a header that the change omits is removed', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { headers: { 'X-One': '1', 'X-Two': '2', 'X-Three': '3' } })
  const shown = (await patch(route, { headers: { 'x-one': null, 'X-Two': HELD, 'X-Four': '4' } })).body.destination
  assert.deepEqual(shown.headers, { 'x-one': HELD, 'X-Two': HELD, 'X-Four': HELD })
  // A client can send the answer back unchanged.
  assert.equal((await patch(route, { headers: shown.headers, timeout_ms: 2_000 })).status, 200)
  await route.send()
  await sink.until(1)
  const { 'x-one': one, 'x-two': two, 'x-three': three, 'x-four': four } = lastOf(sink)
  assert.deepEqual([one, two, three, four], ['1', '2', undefined, '4'])
})

test('a change cannot retain the value of a header that the destination does not have', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url, { headers: { 'X-One': '1' } })
  const unknown = await patch(route, { headers: { 'X-Two': null } })
  assert.deepEqual(
    [unknown.status, unknown.body.error],
    [400, 'headers: the destination has no stored value for X-Two. Send one.'],
  )
  const made = await world.admin('POST', 'destinations', { name: 'n', url: sink.url, headers: { 'X-Two': HELD } })
  assert.equal(made.status, 400)
  const odd = await patch(route, { headers: { 'X-One': { has_value: false } } })
  assert.deepEqual([odd.status, odd.body.error], [400, 'headers.X-One must be text, or null to keep the stored value.'])
})

test('the stored values of a destination are not sent to another origin, proxy or authority', async (t) => {
  const [sink, elsewhere] = [await aTestSink(t), await aTestSink(t)]
  const route = await aRoute(world, sink.url, { headers: { 'X-Key': 'held', 'X-Team': 'orders' } })
  for (const change of [
    { url: elsewhere.url },
    { url: elsewhere.url, headers: { 'X-Key': null } },
    { url: elsewhere.url, headers: { 'X-Key': HELD, 'X-Team': 'orders' } },
    { url: sink.url.replace('127.0.0.1', 'localhost') },
    { proxy: { url: elsewhere.url } },
    { url: 'https://localhost/', tls: { ca: anAuthority().cert } },
  ]) {
    const { status, body } = await patch(route, change)
    assert.equal(status, 400, JSON.stringify(change))
    assert.match(body.error, /^headers: send the value of X-Key(, X-Team)? again, or leave the header out\. /)
  }
  assert.equal((await patch(route, { url: `${sink.url}other/path` })).status, 200, 'the same origin')
  assert.equal((await patch(route, { url: elsewhere.url, headers: { 'X-Key': 'new' } })).status, 200)
  await route.send()
  await elsewhere.until(1)
  assert.deepEqual([lastOf(elsewhere)['x-key'], lastOf(elsewhere)['x-team']], ['new', undefined])
  assert.equal((await patch(route, { url: sink.url, headers: {} })).status, 200, 'without headers')
})
