import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { readTraceparent } from '../../src/domain/delivery/trace-context.ts'
import { aRoute, aTestSink, onDeliveryStage, type Route } from '../stage/delivery-routes.ts'
import type { World } from '../stage/harness.ts'

/** The traceparent of deliveries. */

let world: World

onDeliveryStage((made) => {
  ;({ world } = made)
})

const hexOf = (uuid: string | undefined): string => (uuid ?? '').replaceAll('-', '')

/** The trace id that every delivery of the record must carry. */
async function traceOf(record: string): Promise<string> {
  const { body } = await world.admin('GET', `search/correlate/${record}`)
  return hexOf(decodeId('submission', body.submission.id))
}

const delivered = async (route: Route, headers: Record<string, string> = {}) => {
  const record = await route.send('{"n":1}', headers)
  return { record, delivery: await route.in(record, 'delivered') }
}

test('each attempt of a delivery carries the trace of its event, with the attempt as the parent', async (t) => {
  const sink = await aTestSink(t)
  sink.answer((_request, index) => ({ status: index === 0 ? 500 : 200 }))
  const route = await aRoute(world, sink.url, { retry: { schedule_seconds: [0, 0] } })
  const { record, delivery } = await delivered(route)
  const read = sink.received.map(({ headers }) => readTraceparent(String(headers['traceparent'])))
  assert.deepEqual(
    read.map((context) => context?.traceId),
    [await traceOf(record), await traceOf(record)],
  )
  assert.deepEqual(
    read.map((context) => context?.spanId),
    delivery.attempts.map(({ id }: { id: string }) => hexOf(decodeId('attempt', id)).slice(16)),
  )
})

test('the deliveries of one event to two destinations are one trace', async (t) => {
  const [one, two] = [await aTestSink(t), await aTestSink(t)]
  const route = await aRoute(world, one.url)
  const answer = await world.admin('POST', 'destinations', {
    name: `second of ${route.dataset}`,
    url: two.url,
    datasets: [route.dataset],
  })
  assert.equal(answer.status, 201)
  await route.send('{}')
  const traces = [(await one.until(1))[0], (await two.until(1))[0]].map(
    (received) => readTraceparent(String(received?.headers['traceparent']))?.traceId,
  )
  assert.equal(traces[0], traces[1])
  assert.ok(traces[0])
})

test('a sender decides neither the trace id of our deliveries nor its parent', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const theirs = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const { record } = await delivered(route, { traceparent: theirs, tracestate: 'vendor=1' })
  const [received] = sink.received
  assert.equal(readTraceparent(String(received?.headers['traceparent']))?.traceId, await traceOf(record))
  assert.equal(received?.headers['tracestate'], undefined)
})

test('a custom header cannot replace the traceparent', async () => {
  for (const name of ['traceparent', 'TraceParent', 'tracestate']) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, body } = await world.admin('POST', 'destinations', {
      name: `with ${name}`,
      url: 'https://example.com/',
      headers: { [name]: 'x' },
    })
    assert.equal(status, 400, JSON.stringify(body))
  }
})

test('the request as it was sent shows its traceparent', async (t) => {
  const sink = await aTestSink(t)
  const route = await aRoute(world, sink.url)
  const { delivery } = await delivered(route)
  assert.equal(delivery.attempts[0].request.headers.traceparent, sink.received[0]?.headers['traceparent'])
})
