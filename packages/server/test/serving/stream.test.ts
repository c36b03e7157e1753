import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { anIngestKey, filedText, post } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { sse, webSocket, type Opening, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let key: string
const open: StreamClient[] = []

onWorldStage(
  async (stage) => {
    ;({ world } = stage)
    const made = await anIngestKey(world)
    key = made.key
  },
  { loops: [] },
)
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

async function tail(query = '', opening: Opening = {}, speak = sse): Promise<StreamClient> {
  const client = await speak(`${world.baseUrl}/v1/stream?key=${key}${query}`, opening)
  open.push(client)
  return client
}

const send = (body: string, dataset = 'events') => post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, body)

test('the stream shows an event as a destination would get it, byte for byte', async () => {
  const client = await tail()
  assert.equal(client.status, 200)
  assert.equal(client.headers['content-type'], 'text/event-stream')
  const text = '{ "n": 12345678901234567890, "e": 1e400, "a":1, "a":2 }'
  const { body } = await send(text)
  const event = await client.until(1)
  assert.equal(event.type, 'record')
  const line = `{"id":"${body.records[0].id}","dataset":"events","received_at":"2026-01-15T12:00:00.000Z","data":${text}}`
  assert.ok(client.text().startsWith('retry: 3000\n'))
  assert.ok(client.text().endsWith(`id: ${event.id}\nevent: record\ndata: ${line}\n\n`))
})

test('a payload with line breaks is on one data line and means the same', async () => {
  const client = await tail()
  const accepted = await send('{\r\n "a": [1,\n2,\r3]\r\n}')
  const event = await client.until(1)
  assert.deepEqual(event.data.data, { a: [1, 2, 3] })
  assert.match(client.text(), /\ndata: \{"id".*"data":\{ {2}"a": \[1, 2, 3\] \}\}\n\n$/)
  assert.equal(await filedText(world, accepted), '{\r\n "a": [1,\n2,\r3]\r\n}')
})

test('a page of another origin may send its key in a header', async () => {
  const asked = await fetch(`${world.baseUrl}/v1/stream`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://shop.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  })
  assert.deepEqual([asked.status, asked.headers.get('access-control-allow-origin')], [204, '*'])
  assert.match(asked.headers.get('access-control-allow-headers') ?? '', /Authorization/)
})

test('a page of another origin may read each answer of the stream, which has the Request-Id', async () => {
  const elsewhere = (
    await world.admin('POST', 'ingest-keys', { name: 'of another place', ip_allowlist: ['203.0.113.0/24'] })
  ).body.key
  const refused = await Promise.all(
    ['', `?key=${elsewhere}`, `?key=${key}&since=yesterday`].map((query) => sse(`${world.baseUrl}/v1/stream${query}`)),
  )
  for (const [client, status] of [
    [await tail(), 200],
    [await tail('', {}, webSocket), 101],
    ...refused.map((one, at) => [one, [401, 403, 400][at]] as const),
  ] as const) {
    assert.deepEqual([client.status, client.headers['access-control-allow-origin']], [status, '*'])
    assert.match(String(client.headers['request-id']), /^req_/)
  }
})

test('a WebSocket gets the same content as type, id and data', async () => {
  const client = await tail('', {}, webSocket)
  const { body } = await send('{"a":1}')
  const event = await client.until(1)
  assert.deepEqual(
    [event.type, event.data],
    ['record', { id: body.records[0].id, dataset: 'events', received_at: '2026-01-15T12:00:00.000Z', data: { a: 1 } }],
  )
  assert.ok(event.id)
})

test('the key can come in the Authorization header', async () => {
  for (const speak of [sse, webSocket]) {
    const client = await speak(`${world.baseUrl}/v1/stream`, { headers: { authorization: `Bearer ${key}` } })
    open.push(client)
    await send('{}')
    await client.until(1)
  }
})

test('a missing key, an unknown key and a key of another kind get 401', async () => {
  const wrong = [
    {},
    { headers: { authorization: 'Bearer ik_live_unknown' } },
    { headers: { authorization: `Bearer ${world.installed.api_key}` } },
  ]
  for (const opening of wrong) {
    const response = await fetch(`${world.baseUrl}/v1/stream`, opening)
    const body = (await response.json()) as { reason: string }
    assert.deepEqual([response.status, body.reason], [401, 'stream_key_required'])
    await assert.rejects(webSocket(`${world.baseUrl}/v1/stream`, opening), /status 401/)
  }
})

test('a refusal does not repeat the key', async () => {
  const response = await fetch(`${world.baseUrl}/v1/stream?key=${key}&after=nonsense`)
  assert.equal(response.status, 400)
  assert.ok(!(await response.text()).includes(key))
})

test('dataset selects the named datasets, live and in a replay', async () => {
  const from = (await tail()).headers['stream-cursor']
  const live = await tail('&dataset=a,b')
  for (const name of ['a', 'c', 'b', 'c']) await send(`{"in":"${name}"}`, name)
  await live.until(2)
  const replay = await tail(`&dataset=a,b&after=${String(from)}`)
  await replay.until(2)
  for (const client of [live, replay])
    assert.deepEqual(
      client.events.map((event) => event.data.dataset),
      ['a', 'b'],
    )
  assert.equal((await fetch(`${world.baseUrl}/v1/stream?key=${key}&dataset=no-name`)).status, 400)
})

test('only streams offer a WebSocket', async () => {
  const response = await fetch(`${world.baseUrl}/healthz`, { headers: {} })
  assert.equal(response.status, 200)
  await assert.rejects(webSocket(`${world.baseUrl}/healthz`), /status 200/)
})
