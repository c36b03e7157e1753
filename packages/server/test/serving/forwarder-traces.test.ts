import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { aName } from '../stage/fixtures.ts'
import { onForwarderStage } from '../stage/forwarder-stage.ts'
import { aSink, type Sink } from '../stage/harness.ts'
import { asked } from '../stage/source-stage.ts'

/** The trace of an event with its deliveries and runs. The processes deliver and run workflows; only the test forwards. */
const stage = onForwarderStage({ env: { ROLES: 'web,deliver' }, loops: [] })
const { aForwarder, run, events, receiver } = stage

let sink: Sink
before(async () => {
  sink = await aSink()
})
after(() => sink.stop())

const hexOf = (uuid: string | undefined): string => (uuid ?? '').replaceAll('-', '')
const spanOf = (kind: 'attempt' | 'delivery', id: string): string => hexOf(decodeId(kind, id)).slice(16)

async function deliveryOf(record: string) {
  const { deliveries } = await asked(stage.world(), `GET deliveries?limit=50`)
  const found = deliveries.find((one: { record_id: string }) => one.record_id === record)
  return (await asked(stage.world(), `GET deliveries/${found.id}`)).delivery
}

async function ended(record: string, state: string) {
  // An attempt of the schedule that is due at once starts when the clock moves.
  await stage.world().idle()
  stage.world().clock.advance(1_000)
  await stage.world().idle()
  const delivery = await deliveryOf(record)
  assert.equal(delivery.state, state)
  return delivery
}

test('an event, its delivery and each attempt are one trace, with the times and the outcome of each', async () => {
  await aForwarder()
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const { destination } = await asked(stage.world(), 'POST destinations', {
    name: aName('shop'),
    url: `${sink.url}secret-path?secret=query`,
    retry: { schedule_seconds: [0, 0] },
  })
  const [event] = await events(1)
  const delivery = await ended(event.records[0].id, 'delivered')
  await run()
  const traceId = hexOf(decodeId('submission', event.id))
  const spans = receiver().spans()
  assert.deepEqual(new Set(spans.map((span) => span.traceId)), new Set([traceId]))
  const attempts = spans.filter(({ name }) => name === 'attempt')
  assert.deepEqual(
    attempts.map(({ spanId, parentId, status, start }) => ({ spanId, parentId, code: status.code, start })),
    delivery.attempts.map((attempt: { id: string; started_at: string }, index: number) => ({
      spanId: spanOf('attempt', attempt.id),
      parentId: spanOf('delivery', delivery.id),
      code: index === 0 ? 2 : 0,
      start: Date.parse(attempt.started_at),
    })),
  )
  assert.deepEqual(
    attempts.map(({ attributes }) => attributes['http.response.status_code']),
    [500, 200],
  )
  const [whole, ...others] = spans.filter(({ name }) => name === 'delivery')
  const root = spans.find(({ name }) => name === 'event')
  assert.deepEqual([whole?.spanId, whole?.parentId, others.length], [spanOf('delivery', delivery.id), root?.spanId, 0])
  assert.equal(whole?.end, attempts.at(-1)?.end)
  const logs = receiver().logs()
  assert.deepEqual(
    logs.filter(({ event: name }) => name === 'postroad.attempt.ended').map(({ severity }) => severity),
    [13, 9],
  )
  assert.deepEqual(new Set(logs.map((log) => log.traceId)), new Set([traceId]))
  assert.ok(
    !JSON.stringify(receiver().requests).includes('secret'),
    'the path and the query of a destination stay here',
  )
  const carried = sink.received.map(({ headers }) => String(headers['traceparent']).split('-'))
  assert.deepEqual(
    carried.map(([, trace, parent]) => [trace, parent]),
    attempts.map(({ spanId }) => [traceId, spanId]),
  )
  await asked(stage.world(), `DELETE destinations/${destination.id}`)
})

test('a replay adds attempts to the trace, and no second span of the delivery', async () => {
  await aForwarder({ signals: ['traces'], content: ['attempts'] })
  sink.answer({ status: 200 })
  const { destination } = await asked(stage.world(), 'POST destinations', { name: aName('shop'), url: sink.url })
  const [event] = await events(1)
  const delivery = await ended(event.records[0].id, 'delivered')
  await run()
  await asked(stage.world(), `POST deliveries/${delivery.id}/replay`)
  assert.equal((await ended(event.records[0].id, 'delivered')).attempts.length, 2)
  await run()
  assert.deepEqual(
    receiver()
      .spans()
      .map(({ name }) => name)
      .toSorted(),
    ['attempt', 'attempt', 'delivery'],
  )
  await asked(stage.world(), `DELETE destinations/${destination.id}`)
})

test('failed attempts are sent for every event when the forwarder asks for errors, whatever the sampling is', async () => {
  await aForwarder({ sample_rate: 0, signals: ['logs'] })
  sink.answer({ status: 500 })
  const { destination } = await asked(stage.world(), 'POST destinations', {
    name: aName('failing'),
    url: sink.url,
    retry: { schedule_seconds: [0] },
  })
  const [event] = await events(1)
  await ended(event.records[0].id, 'failed')
  await run()
  assert.deepEqual(
    receiver()
      .logs()
      .map(({ event: name, severity }) => [name, severity]),
    [['postroad.attempt.ended', 17]],
  )
  await asked(stage.world(), `DELETE destinations/${destination.id}`)
})
