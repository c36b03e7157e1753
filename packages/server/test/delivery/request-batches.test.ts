import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyDelivery } from '../../src/domain/signature/index.ts'
import { aDestination, post } from '../stage/fixtures.ts'
import { eventually, type Received, type Sink, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 5: several events in one request, each of which is a delivery with its attempt. */
let world: World
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)

let datasets = 0
const BATCH = { kind: 'http', batch: { max: 3, linger_ms: 1_000 } }

async function aTarget(settings: object = {}) {
  datasets += 1
  const dataset = `b${datasets}`
  const made = { url: sink.url, datasets: [dataset], config: BATCH, retry: { schedule_seconds: [0, 60] }, ...settings }
  const { destination, secret } = await aDestination(world, made)
  const record = async (body: string): Promise<string> => {
    const answer = await post(`${world.endpoint}/${dataset}`, body)
    assert.equal(answer.status, 201)
    return answer.body.records[0].id
  }
  return { id: destination.id, secret, record }
}

const itemsOf = ({ body }: Received): readonly { readonly id: string; readonly data: unknown }[] => JSON.parse(body)

const keyOf = ({ data }: { readonly data: unknown }): string => JSON.stringify(data)

/** The request with this index, which leaves when its first event has waited. The clock moves on until it has. */
function afterItsWait(at: number): Promise<Received> {
  return eventually('the batch leaves when its first event has waited', async () => {
    world.clock.advance(1_000)
    return sink.received[at]
  })
}

async function deliveryOf(record: string) {
  const { deliveries } = (await world.admin('GET', `deliveries?record_id=${record}`)).body
  return (await world.admin('GET', `deliveries/${deliveries[0].id}`)).body.delivery
}

test('a full batch is one signed request with the envelopes of its events, and each delivery has its attempt', async () => {
  const target = await aTarget()
  const had = sink.received.length
  const records = await Promise.all(['{"n":1}', '{"n":2.50}', '{"n":3}'].map(target.record))
  const got = (await sink.until(had + 1))[had] ?? assert.fail('nothing arrived')
  await world.idle()
  assert.equal(sink.received.length, had + 1)
  assert.deepEqual(
    itemsOf(got)
      .map(({ id }) => id)
      .toSorted(),
    records.toSorted(),
  )
  assert.ok(got.body.includes('{"n":2.50}'), 'payloads are spliced in as they came')
  const { headers } = got
  const singly = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const nowSeconds = Math.floor(world.clock.wall() / 1_000)
  assert.equal(
    verifyDelivery({ secrets: [target.secret], headers: singly, body: Buffer.from(got.body), nowSeconds }),
    undefined,
  )
  assert.deepEqual(
    [headers['service-batch-size'], headers['webhook-id'], headers['service-event-id'], headers['traceparent']],
    ['3', headers['service-batch-id'], undefined, undefined],
  )
  for (const [at, record] of records.entries()) {
    const delivery = await deliveryOf(record)
    const [attempt] = delivery.attempts
    assert.deepEqual([delivery.state, delivery.attempts.length, attempt.request.batch_size], ['delivered', 1, 3])
    assert.equal(attempt.request.headers['service-batch-id'], headers['service-batch-id'])
    const { body } = (await world.admin('GET', `attempts/${attempt.id}`)).body
    assert.deepEqual([body.as_sent, JSON.parse(body.text).data.n], [true, [1, 2.5, 3][at]])
  }
})

test('a batch that is not full leaves when its first event has waited, and a test does not wait', async () => {
  const target = await aTarget()
  const had = sink.received.length
  await target.record('{"n":1}')
  const got = await afterItsWait(had)
  assert.equal(itemsOf(got).length, 1)
  const { attempt } = (await world.admin('POST', `destinations/${target.id}/test`, {})).body
  assert.equal(attempt.outcome, 'succeeded')
})

test('batches of an ordered destination leave one after another, with one event of each key', async () => {
  const target = await aTarget({ ordering: { path: 'k' } })
  const had = sink.received.length
  for (const body of ['{"k":"a","n":1}', '{"k":"a","n":2}', '{"k":"b","n":3}', '{"k":"c","n":4}'])
    await target.record(body)
  const first = (await sink.until(had + 1))[had] ?? assert.fail('nothing arrived')
  assert.deepEqual(itemsOf(first).map(keyOf).toSorted(), ['{"k":"a","n":1}', '{"k":"b","n":3}', '{"k":"c","n":4}'])
  const second = await afterItsWait(had + 1)
  assert.deepEqual(itemsOf(second).map(keyOf), ['{"k":"a","n":2}'])
})

test('settings that a request with several events cannot have are refused with one sentence', async () => {
  const refused = async (members: object): Promise<string> => {
    const asked = { name: 'batches', url: sink.url, config: BATCH, ...members }
    const { status, body } = await world.admin('POST', 'destinations', asked)
    assert.equal(status, 400)
    return body.error
  }
  assert.match(await refused({ body: 'as_received' }), /as_received sends one request/)
  assert.match(await refused({ forward_headers: ['X-GitHub-Event'] }), /has no headers of one/)
  assert.match(await refused({ max_in_flight: 2 }), /config.batch.max is 3, and at most max_in_flight events \(2\)/)
  const target = await aTarget({ config: { kind: 'http' } })
  const big = { config: { kind: 'http', batch: { max: 100, linger_ms: 100 } } }
  assert.equal((await world.admin('PATCH', `destinations/${target.id}`, big)).status, 400)
  assert.equal((await world.admin('PATCH', `destinations/${target.id}`, { ...big, max_in_flight: 100 })).status, 200)
  const off = await world.admin('PATCH', `destinations/${target.id}`, { config: { kind: 'http' } })
  assert.deepEqual(off.body.destination.config, { kind: 'http' })
})

test('a failed batch fails each of its deliveries, which are gathered again when they are due', async () => {
  const target = await aTarget()
  sink.answer({ status: 500 })
  const had = sink.received.length
  const records = await Promise.all(['1', '2', '3'].map((n) => target.record(`{"n":${n}}`)))
  await sink.until(had + 1)
  await world.idle()
  for (const record of records) assert.deepEqual((await deliveryOf(record)).state, 'retrying')
  sink.answer({ status: 200 })
  world.clock.advance(80_000)
  const again = (await sink.until(had + 2))[had + 1] ?? assert.fail('nothing arrived')
  await world.idle()
  assert.equal(again.headers['service-batch-id'], sink.received[had]?.headers['service-batch-id'])
  for (const record of records) assert.deepEqual((await deliveryOf(record)).state, 'delivered')
})
