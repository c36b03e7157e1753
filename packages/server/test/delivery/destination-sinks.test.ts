import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signDelivery } from '../../src/domain/signature/index.ts'
import { aDestination, aName, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Sinks: destinations that this server receives itself. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const aSinkOf = async (name = aName('sink')): Promise<Answer['body']> => {
  const { status, body } = await world.admin('POST', 'destination-sinks', { name })
  assert.equal(status, 201)
  return body
}

/** The newest delivery to a destination, which is in this state, with its attempts. */
async function deliveryTo(id: string, state: string): Promise<Answer['body']> {
  await world.idle()
  const [found] = (await world.admin('GET', `deliveries?destination_id=${id}&state=${state}`)).body.deliveries
  return (await world.admin('GET', `deliveries/${found.id}`)).body.delivery
}

type Sent = { readonly url: string; readonly secret: string; readonly body?: string; readonly age?: number }

/** A request that is signed like a delivery. */
function signedPost({ url, secret, body = '{"id":"rec_1"}', age = 0 }: Sent): Promise<Response> {
  const timestampSeconds = Math.floor(world.clock.wall() / 1_000) - age
  const headers = signDelivery({ secrets: [secret], id: 'rec_1', body, timestampSeconds, header: 'both' })
  return fetch(url, { method: 'POST', headers, body })
}

const answerOf = async (response: Response): Promise<Answer> => ({
  status: response.status,
  headers: response.headers,
  body: await response.json(),
})

/** `401 bad_signature`. */
const answerTo = async (response: Promise<Response>): Promise<string> => {
  const { status, body } = await answerOf(await response)
  const { reason } = body
  return reason === undefined ? String(status) : `${status} ${reason}`
}

test('an event is delivered to a sink at the first attempt, and the attempt shows the received request and its valid signature', async () => {
  const { destination, signing_secret } = await aSinkOf('Sink')
  assert.equal(destination.name, 'Sink')
  assert.ok(destination.url.startsWith(`${world.baseUrl}/v1/sink/`), destination.url)
  assert.match(signing_secret, /^whsec_/)
  await post(world.endpoint, '{"order":7}')
  const { attempts, record_id } = await deliveryTo(destination.id, 'delivered')
  assert.equal(attempts.length, 1)
  assert.equal(attempts[0].response_status, 200)
  const { headers, body, ...said } = JSON.parse(attempts[0].response_body)
  assert.deepEqual(said, { received: true, verified: true, bytes: Buffer.byteLength(body), truncated: false })
  assert.deepEqual(JSON.parse(body).data, { order: 7 })
  assert.deepEqual([headers['service-event-id'], headers['service-attempt']], [record_id, '1'])
})

test('the answer of a sink contains no value of a custom header and no credential', async () => {
  const { destination } = await aSinkOf()
  const changed = await world.admin('PATCH', `destinations/${destination.id}`, {
    headers: { 'X-Own': 'canary-header' },
    auth: { kind: 'bearer', token: 'canary-bearer' },
  })
  assert.equal(changed.status, 200)
  await post(world.endpoint, '{}')
  const { attempts } = await deliveryTo(destination.id, 'delivered')
  assert.doesNotMatch(attempts[0].response_body, /canary|v1=/)
})

test('a sink accepts only recent requests that its destination signed; during a rotation it accepts either secret', async () => {
  const { destination, signing_secret: secret } = await aSinkOf()
  const { url } = destination
  const other = (await aSinkOf()).signing_secret
  assert.deepEqual(
    await Promise.all([
      answerTo(signedPost({ url, secret })),
      answerTo(signedPost({ url, secret: other })),
      answerTo(signedPost({ url, secret, age: 301 })),
      answerTo(fetch(url, { method: 'POST', body: '{}' })),
      answerTo(signedPost({ url: url.replace(/dst_\w+/, 'dst_01kf0rdqg0e31tkzsaqv275w2x'), secret })),
      answerTo(signedPost({ url: url.replace(/dst_\w+/, 'dst_1'), secret })),
      answerTo(fetch(url)),
    ]),
    [
      '200',
      '401 bad_signature',
      '401 stale_timestamp',
      '401 missing_header',
      '404 not_found',
      '404 not_found',
      '405 method_not_allowed',
    ],
  )
  const rotated = await world.admin('POST', `destinations/${destination.id}/rotate-secret`, {})
  // An API key may not rotate, so nothing has changed.
  assert.equal(rotated.status, 403)
})

test('a large body arrives whole, and the answer shows its start and reports that it is truncated', async () => {
  const { destination, signing_secret: secret } = await aSinkOf()
  const body = JSON.stringify({ long: 'x'.repeat(3_000_000) })
  const answer = await signedPost({ url: destination.url, secret, body })
  assert.equal(answer.status, 200)
  const said = (await answerOf(answer)).body
  assert.deepEqual([said.bytes, said.body.length, said.truncated], [body.length, 8_192, true])
})

test('a sink stores nothing and forwards nothing, so it cannot be part of a loop', async () => {
  const { destination } = await aSinkOf()
  const before = (await world.admin('GET', 'submissions')).body.submissions.length
  await post(world.endpoint, '{"only":"once"}')
  await deliveryTo(destination.id, 'delivered')
  assert.equal((await world.admin('GET', 'submissions')).body.submissions.length, before + 1)
})

test('a deleted sink no longer exists; the name of a destination is unique', async () => {
  const { destination, signing_secret: secret } = await aSinkOf()
  const again = await world.admin('POST', 'destination-sinks', { name: destination.name })
  assert.deepEqual([again.status, again.body.reason], [409, 'name_taken'])
  await world.admin('DELETE', `destinations/${destination.id}`)
  assert.equal((await signedPost({ url: destination.url, secret })).status, 404)
  assert.equal((await aDestination(world, { name: destination.name, url: destination.url })).destination.enabled, true)
})

test('where the server may not reach its own address, a sink is refused and the error names the setting to change', async (t) => {
  const closed = await aWorld({ env: { OUTBOUND_ALLOW: '' }, loops: [] })
  t.after(() => closed.stop())
  const { status, body } = await closed.admin('POST', 'destination-sinks', {})
  assert.deepEqual([status, body.reason], [400, 'invalid_url'])
  assert.match(body.error, /OUTBOUND_ALLOW/)
})
