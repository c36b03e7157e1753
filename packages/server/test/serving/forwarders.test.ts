import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { onForwarderStage } from '../stage/forwarder-stage.ts'
import { asked } from '../stage/source-stage.ts'

/** The content of forwarders. A local receiver parses it by the definition of OTLP. */
const stage = onForwarderStage()
const { aForwarder, forwarderOf, run, events, receiver } = stage

const traceOf = (submission: string): string => (decodeId('submission', submission) ?? '').replaceAll('-', '')

for (const encoding of ['json', 'protobuf'] as const)
  for (const gzip of [true, false])
    test(`accepted events are sent as logs and spans by ${encoding}${gzip ? ' with gzip' : ''}`, async () => {
      const { id } = await aForwarder({ encoding, gzip, headers: { 'X-Key': 'secret' } })
      const [event] = await events(1)
      await run()
      const [log] = receiver().logs()
      assert.equal(log?.event, 'postroad.submission.accepted')
      assert.equal(log.traceId, traceOf(event.id))
      assert.equal(log.attributes['postroad.submission.id'], event.id)
      assert.deepEqual(log.attributes['postroad.record.ids'], [event.records[0].id])
      assert.equal(log.at, Date.parse(event.received_at))
      assert.deepEqual(
        receiver()
          .spans()
          .map(({ name, traceId, start }) => ({ name, traceId, start })),
        ['event', 'capture', 'route'].map((name) => ({
          name,
          traceId: log.traceId,
          start: Date.parse(event.received_at),
        })),
      )
      const [root, ...inner] = receiver().spans()
      assert.equal(root?.spanId, log.spanId)
      assert.deepEqual([root?.parentId, ...inner.map(({ parentId }) => parentId)], ['', root?.spanId, root?.spanId])
      for (const { headers, resource, path } of receiver().requests) {
        assert.equal(headers['x-key'], 'secret')
        assert.equal(headers['content-encoding'], gzip ? 'gzip' : undefined)
        assert.equal(resource['service.name'], 'postroad')
        assert.match(path, /^\/v1\/(logs|traces)$/)
      }
      const { progress, state } = await forwarderOf(id)
      assert.equal(state, 'active')
      assert.deepEqual([progress.logs.sent, progress.traces.sent], [1, 3])
      assert.deepEqual([progress.logs.lag_seconds, progress.logs.last_error], [0, null])
    })

test('a new forwarder sends no events from before its creation', async () => {
  await events(1)
  await aForwarder()
  const [later] = await events(1)
  await run()
  assert.deepEqual(
    receiver()
      .logs()
      .map(({ attributes }) => attributes['postroad.submission.id']),
    [later.id],
  )
})

test('every event is sent once, also when many rounds and batches are needed', async () => {
  await aForwarder({ signals: ['logs'] })
  const sent = await events(30)
  await run()
  const more = await events(5)
  await run()
  await run()
  assert.deepEqual(
    receiver()
      .logs()
      .map(({ attributes }) => attributes['postroad.submission.id']),
    [...sent, ...more].map(({ id }) => id),
  )
})

test('a valid traceparent of the sender becomes a link, and anything else does not', async () => {
  await aForwarder({ signals: ['traces'], content: ['submissions'] })
  const [trace, span] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
  const [one] = await events(1, {}, { traceparent: `00-${trace}-${span}-01` })
  await events(1, {}, { traceparent: `00-${'0'.repeat(32)}-${span}-01` })
  await run()
  const roots = receiver()
    .spans()
    .filter(({ name }) => name === 'event')
  assert.deepEqual(
    roots.map(({ links }) => links),
    [[{ traceId: trace, spanId: span }], []],
  )
  assert.equal(roots[0]?.traceId, traceOf(one.id))
})

test('the sampling rate decides for an event as a whole, and for both signals alike', async () => {
  await aForwarder({ sample_rate: 0.5 })
  const sent = await events(40)
  await run()
  const logs = new Set(
    receiver()
      .logs()
      .map(({ traceId }) => traceId),
  )
  const traces = new Set(
    receiver()
      .spans()
      .map(({ traceId }) => traceId),
  )
  assert.deepEqual(logs, traces)
  assert.ok(logs.size > 0 && logs.size < sent.length, `${logs.size} of ${sent.length}`)
})

test('a sampling rate of 0 sends no event, and the position moves on', async () => {
  const { id } = await aForwarder({ sample_rate: 0 })
  await events(2)
  await run()
  assert.equal(receiver().requests.length, 0)
  assert.equal((await forwarderOf(id)).progress.logs.lag_seconds, 0)
})

test('payloads are sent only when the forwarder asks for them, with headers and fields redacted', async () => {
  await aForwarder({ signals: ['logs'], content: ['submissions'] })
  await aForwarder({
    signals: ['logs'],
    content: ['submissions'],
    payloads: true,
    redact_headers: ['X-Person'],
    redact_fields: ['Email'],
  })
  const data = { total: 1, person: { email: 'ada@example.com', list: [{ EMAIL: 'bob@example.com' }] } }
  const query = 'shop=north&EMAIL=ada%40example.com'
  await events(1, data, { '?': query, 'x-person': 'ada', 'x-shop': 'north', authorization: 'Bearer topsecret' })
  await run()
  const [without, with_] = receiver()
    .logs()
    .toSorted((a, b) => Object.keys(a.attributes).length - Object.keys(b.attributes).length)
  assert.equal(without?.attributes['postroad.body'], undefined)
  assert.equal(without?.attributes['http.request.header.x-shop'], undefined)
  assert.equal(without?.attributes['url.query'], undefined)
  assert.equal(with_?.attributes['url.query'], 'shop=north&EMAIL=[redacted]')
  assert.deepEqual(with_.attributes['http.request.header.x-shop'], ['north'])
  assert.deepEqual(with_.attributes['http.request.header.x-person'], ['[redacted]'])
  assert.deepEqual(JSON.parse(String(with_.attributes['postroad.body'])), {
    total: 1,
    person: { email: '[redacted]', list: [{ EMAIL: '[redacted]' }] },
    sent: 0,
  })
  assert.ok(!JSON.stringify(receiver().requests).includes('topsecret'))
})

test('rejected requests are sent once as a count, when their minute has ended', async () => {
  await aForwarder({ content: ['rejections'] })
  const world = stage.world()
  const { key } = await asked(world, 'POST ingest-keys', { name: 'refusing', datasets: ['only'] })
  const refused = () => fetch(`${world.baseUrl}/v1/ingest/${key}/other`, { method: 'POST', body: '{}' })
  await refused()
  await refused()
  await world.run('rejections.flush')
  const { rejections } = await asked(world, 'GET rejections?limit=1')
  assert.equal(rejections[0]?.count, 2)
  await run(0)
  assert.equal(receiver().requests.length, 0, 'the minute has not ended')
  await run(75_000)
  await run()
  assert.deepEqual(
    receiver()
      .logs()
      .map(({ event, attributes, traceId }) => [event, attributes['postroad.rejection.count'], traceId]),
    [['postroad.rejection.counted', 2, '']],
  )
})

test('the audit log is sent when a forwarder asks for it', async () => {
  await aForwarder({ content: ['audit'], signals: ['logs'] })
  await asked(stage.world(), 'POST datasets', { name: 'audited' })
  await run()
  assert.ok(
    receiver()
      .logs()
      .some(({ attributes }) => attributes['postroad.audit.action'] === 'create_dataset'),
  )
})

test('the test button sends one record of each signal, and reports the answer of the receiver', async () => {
  const { id } = await aForwarder({ headers: { 'x-key': 'held' } })
  const good = await asked(stage.world(), 'POST forwarders/test', { forwarder_id: id })
  assert.deepEqual([good.ok, good.results.map(({ status }: { status: number }) => status)], [true, [200, 200]])
  assert.deepEqual(
    receiver().requests.map(({ headers }) => headers['x-key']),
    ['held', 'held'],
  )
  receiver().answer({ status: 401 })
  const bad = await asked(stage.world(), 'POST forwarders/test', { endpoint: receiver().url, signals: ['logs'] })
  assert.equal(bad.ok, false)
  assert.match(bad.results[0].error.error, /401.*Check the authentication headers/)
})
