import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { aWorld, eventually, type World } from '../../server/test/stage/harness.ts'
import { ForbiddenError, Postroad, UnauthorizedError, UnreachableError, type StreamEvent } from '../src/index.ts'

let world: World
let postroad: Postroad

before(async () => {
  world = await aWorld({ loops: 'all' })
  const { body } = await world.admin('POST', 'ingest-keys', { name: 'SDK' })
  postroad = new Postroad({ url: world.baseUrl, ingestKey: body.key })
})
after(() => world.stop())

const admin = (): Postroad => new Postroad({ url: world.baseUrl, token: world.installed.api_key })

/** The next events of a stream with these types. */
async function take(stream: AsyncIterable<StreamEvent>, count: number, type = 'record'): Promise<StreamEvent[]> {
  const taken: StreamEvent[] = []
  for await (const event of stream) {
    if (event.type === type) taken.push(event)
    if (taken.length === count) break
  }
  return taken
}

/**
 * Moves the clock until a promise settles, because loops of the server write and read at their times. `meanwhile` runs before each
 * move.
 */
async function asTimePasses<T>(waiting: Promise<T>, meanwhile?: () => Promise<void>): Promise<T> {
  let isSettled = false
  const settle = (): void => void (isSettled = true)
  waiting.then(settle, settle)
  await eventually('the promise settles', async () => {
    if (!isSettled) {
      await meanwhile?.()
      world.clock.advance(250)
    }
    return isSettled ? true : undefined
  })
  return waiting
}

const dataOf = (events: readonly StreamEvent[]): readonly unknown[] =>
  events.map((event) => (event.type === 'record' ? event.data.data : event.type))

/** A proxy that drops the responses to the first requests after the server has done the work. */
async function aLossyRoad(losses: number) {
  const target = new URL(world.address)
  let asked = 0
  const server = createServer((request, response) => {
    asked += 1
    const isLost = asked <= losses
    const upstream = connect(Number(target.port), target.hostname)
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = Object.entries({ ...request.headers, connection: 'close' })
      const head = headers.map(([name, value]) => `${name}: ${String(value)}\r\n`).join('')
      upstream.write(`${request.method} ${request.url} HTTP/1.1\r\n${head}\r\n`)
      upstream.write(Buffer.concat(chunks))
    })
    const socket = response.socket
    if (isLost) upstream.on('data', () => socket?.destroy())
    else upstream.on('data', (chunk: Buffer) => socket?.write(chunk)).on('close', () => socket?.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    [Symbol.dispose]: () => server.close().closeAllConnections(),
  }
}

test('a client gets the ids of its event from an endpoint with its own response', async () => {
  const { webhook } = await admin().webhooks.create({ name: 'Silent', response: { status: 204 } })
  const accepted = await postroad.events.send({ endpoint: webhook.public_url, data: { total: 1 } })
  assert.deepEqual([accepted.status, accepted.records.length], ['accepted', 1])
})

test('a client sends an event to a dataset, to the rules, to an endpoint by its slug, and to the URL of an endpoint', async () => {
  const whole = await postroad.events.send({ dataset: 'orders', data: { total: 1 } })
  assert.equal(whole.dataset, 'orders')
  assert.equal(whole.records.length, 1)
  assert.deepEqual((await postroad.events.send({ data: { total: 2 } })).routed, [])
  const { webhook } = await admin().webhooks.create({ name: 'By slug' })
  const bySlug = await postroad.events.send({ webhook: webhook.slug, data: [1] })
  assert.equal(bySlug.dataset, webhook.dataset)
  const keyless = new Postroad({ url: world.baseUrl })
  assert.equal((await keyless.events.send({ endpoint: webhook.public_url, data: 'x' })).dataset, webhook.dataset)
})

test('the client repeats an event whose response is lost, and the server stores it once', async () => {
  using road = await aLossyRoad(2)
  const { body } = await world.admin('POST', 'ingest-keys', { name: 'Lossy' })
  const lossy = new Postroad({ url: road.url, ingestKey: body.key })
  const sent = await lossy.events.send({ dataset: 'lossy', data: { once: true } })
  assert.equal(road.asked(), 3)
  assert.equal(sent.duplicate, true)
  assert.equal((await admin().records.list({ dataset: 'lossy' })).records.length, 1)
})

const sendKeyed = () => postroad.events.send({ dataset: 'keyed', data: { a: 1 } }, { idempotencyKey: 'order-1' })

test('a key of the caller makes a repeat a duplicate', async () => {
  const first = await sendKeyed()
  const second = await sendKeyed()
  assert.deepEqual([first.duplicate, second.duplicate, second.id], [false, true, first.id])
})

test('an event without a value, or a client without a key, is a mistake of the caller', async () => {
  await assert.rejects(postroad.events.send({ dataset: 'x', data: undefined }), /"data" is missing/)
  const keyless = new Postroad({ url: world.baseUrl })
  await assert.rejects(keyless.events.send({ dataset: 'x', data: 1 }), /"ingestKey" is missing/)
})

test('the stream shows events as they are stored, and continues after a cursor', async () => {
  const past = postroad.stream({ datasets: ['live'], since: new Date(world.clock.now()) })
  for (const number of [1, 2, 3]) await postroad.events.send({ dataset: 'live', data: number })
  const [first, second] = await take(past, 2)
  assert.deepEqual(dataOf([first, second].filter((event) => event !== undefined)), [1, 2])
  assert.deepEqual(dataOf(await take(postroad.stream({ datasets: ['live'], after: first?.cursor }), 2)), [2, 3])
})

test('the stream of a token shows rejected requests too', async () => {
  const { webhook } = await admin().webhooks.create({ name: 'Off', enabled: false })
  const stream = take(admin().stream({ since: new Date(world.clock.now()) }), 1, 'rejection')
  const client = new Postroad({ url: world.baseUrl, maxRetries: 0 })
  const refused = (): Promise<void> => assert.rejects(client.events.send({ endpoint: webhook.public_url, data: 1 }))
  // A stream shows the rejections that are counted after it has opened, and the test cannot see when it has.
  const [rejection] = await asTimePasses(stream, refused)
  assert.equal(rejection?.type === 'rejection' && rejection.data.reason, 'endpoint_disabled')
})

test('a stream whose connection is lost continues without loss and without repetition', async () => {
  const sockets = new Set<{ destroy(): void }>()
  const target = new URL(world.address)
  const { createServer: createTcp } = await import('node:net')
  const road = createTcp((socket) => {
    const upstream = connect(Number(target.port), target.hostname)
    sockets.add(socket)
    socket.pipe(upstream).on('error', () => socket.destroy())
    upstream.pipe(socket).on('error', () => upstream.destroy())
  })
  await new Promise<void>((resolve) => road.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(road.address() as AddressInfo).port}`
  const { body } = await world.admin('POST', 'ingest-keys', { name: 'Cut' })
  const stop = new AbortController()
  try {
    const cut = new Postroad({ url, ingestKey: body.key })
    const seen: unknown[] = []
    await postroad.events.send({ dataset: 'cut', data: 1 })
    for await (const event of cut.stream({ datasets: ['cut'], since: '2026-01-01', signal: stop.signal })) {
      if (event.type === 'record') seen.push(event.data.data)
      if (seen.length === 4) break
      for (const socket of sockets) socket.destroy()
      sockets.clear()
      await postroad.events.send({ dataset: 'cut', data: seen.length + 1 })
    }
    assert.deepEqual(seen, [1, 2, 3, 4])
  } finally {
    stop.abort()
    for (const socket of sockets) socket.destroy()
    road.close()
  }
})

test('a stream ends with the reason of the caller or of a refusal, or because the server never answered', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const waiting = take(postroad.stream({ signal: stop.signal }), 1)
  stop.abort(reason)
  await assert.rejects(waiting, reason)
  await assert.rejects(
    take(new Postroad({ url: world.baseUrl, ingestKey: 'ik_live_x' }).stream(), 1),
    UnauthorizedError,
  )
  const nobody = new Postroad({ url: 'http://127.0.0.1:1', ingestKey: 'ik_live_x', maxRetries: 1 })
  await assert.rejects(take(nobody.stream(), 1), UnreachableError)
})

test('a stream ends when its key loses the permission', async () => {
  const { body } = await world.admin('POST', 'ingest-keys', { name: 'Short' })
  const short = new Postroad({ url: world.baseUrl, ingestKey: body.key })
  await short.events.send({ dataset: 'short', data: 1 })
  const stream = short.stream({ datasets: ['short'], since: '2026-01-01' })[Symbol.asyncIterator]()
  assert.equal((await stream.next()).value?.type, 'record')
  await world.admin('PATCH', `ingest-keys/${body.ingest_key.id}`, { scopes: ['ingest'] })
  await assert.rejects(asTimePasses(stream.next()), (error) => {
    assert.ok(error instanceof UnauthorizedError || error instanceof ForbiddenError)
    assert.equal(error.reason, 'credential_revoked')
    return true
  })
})
