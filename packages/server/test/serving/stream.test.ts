import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { reinstateWorkspace, suspendWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { anIngestKey, behind, filedText, post, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type World } from '../stage/harness.ts'
import { sse, webSocket, type Opening, type StreamClient } from '../stage/stream-client.ts'

let world: World
let key: string
const open: StreamClient[] = []

before(async () => {
  world = await aWorld()
  const made = await anIngestKey(world)
  key = made.key
})
after(() => world.stop())
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

async function tail(query = '', opening: Opening = {}, speak = sse): Promise<StreamClient> {
  const client = await speak(`${world.baseUrl}/v1/stream?key=${key}${query}`, opening)
  open.push(client)
  return client
}

const send = (body: string, dataset = 'events') => post(`${world.baseUrl}/v1/ingest/${key}/${dataset}`, body)

/** A read that was under way while the clock was moved rests, by that clock, for up to a second. */
function arrived(client: StreamClient, count: number): Promise<true> {
  return eventually(async () => {
    world.clock.advance(50)
    return client.events.length >= count ? true : undefined
  })
}

async function clients(): Promise<number> {
  const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
  return Number(/^postroad_stream_connections (\d+)$/m.exec(text)?.[1])
}

test('an event is seen on the stream as a destination would get it, byte for byte', async () => {
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

test('a payload with line ends in it stands on one data line and means the same', async () => {
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

test('and may read each answer of the stream, which says the id of its request', async () => {
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

test('a WebSocket gets the same as type, id and data', async () => {
  const client = await tail('', {}, webSocket)
  const { body } = await send('{"a":1}')
  const event = await client.until(1)
  assert.deepEqual(
    [event.type, event.data],
    ['record', { id: body.records[0].id, dataset: 'events', received_at: '2026-01-15T12:00:00.000Z', data: { a: 1 } }],
  )
  assert.ok(event.id)
})

test('the key may stand in the Authorization header', async () => {
  for (const speak of [sse, webSocket]) {
    const client = await speak(`${world.baseUrl}/v1/stream`, { headers: { authorization: `Bearer ${key}` } })
    open.push(client)
    await send('{}')
    await client.until(1)
  }
})

test('without a key, with an unknown one and with one of another kind the answer is 401', async () => {
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

test('what came while a client was away comes when it is back, once and in full', async () => {
  const first = await tail()
  await send('{"n":1}')
  const { id } = await first.until(1)
  first.close()
  for (const n of [2, 3, 4]) await send(`{"n":${n}}`)
  for (const opening of [{ headers: { 'last-event-id': id ?? '' } }, undefined]) {
    const again = await tail(opening === undefined ? `&after=${id}` : '', opening)
    await again.until(3)
    await send('{"n":5}')
    await again.until(4)
    assert.deepEqual(
      again.events.slice(0, 3).map((event) => event.data.data.n),
      [2, 3, 4],
    )
    assert.deepEqual(
      again.events.slice(3).map((event) => event.data.data.n),
      [5],
    )
    again.close()
    if (opening !== undefined) continue
  }
})

test('Last-Event-ID goes before after, and one that is no cursor of ours is refused as there', async () => {
  const first = await tail()
  for (const n of [1, 2]) await send(`{"n":${n}}`)
  await first.until(2)
  const [older, newer] = first.events.map(({ id }) => id ?? '')
  const again = await tail(`&after=${newer}`, { headers: { 'last-event-id': older ?? '' } })
  await send('{"n":3}')
  await again.until(2)
  assert.deepEqual(
    again.events.map((event) => event.data.data.n),
    [2, 3],
  )
  for (const [query, headers] of [
    ['&after=nonsense', {}],
    ['', { 'last-event-id': 'nonsense' }],
    [`&after=${newer}`, { 'last-event-id': 'nonsense' }],
  ] as const) {
    const refused = await tail(query, { headers: { ...headers } })
    assert.equal(refused.status, 400)
    await refused.ended
    assert.match(refused.text(), /cursor is not one of ours.*"reason":"invalid_request"/)
  }
})

test('a client that lost its connection before the first event resumes from the cursor of the answer', async () => {
  for (const speak of [sse, webSocket]) {
    const first = await tail('', {}, speak)
    const cursor = String(first.headers['stream-cursor'])
    first.close()
    await send('{"missed":true}')
    const again = await tail(`&after=${cursor}`, {}, speak)
    assert.deepEqual((await again.until(1)).data.data, { missed: true })
  }
})

test('since gives what was received from that time on', async () => {
  world.clock.advance(3_600_000)
  const from = new Date(world.clock.now()).toISOString()
  for (const n of [1, 2]) await send(`{"since":${n}}`)
  const client = await tail(`&since=${from}`)
  await client.until(2)
  assert.deepEqual(
    client.events.map((event) => event.data.data.since),
    [1, 2],
  )
  for (const no of ['yesterday', '2026-02-30T00:00:00Z', '2026-01-15T25:00:00Z'])
    assert.equal((await fetch(`${world.baseUrl}/v1/stream?key=${key}&since=${no}`)).status, 400, no)
})

test('dataset lets through what it names, live and in a replay', async () => {
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

test('a long replay comes in pages and goes on live, without a gap or a repetition', async () => {
  const first = await tail()
  const cursor = String(first.headers['stream-cursor'])
  first.close()
  const filler = 'x'.repeat(2_000)
  for (let round = 0; round < 12; round += 1) {
    await Promise.all(Array.from({ length: 100 }, (_none, n) => send(`{"n":${round * 100 + n},"filler":"${filler}"}`)))
  }
  const client = await tail(`&after=${cursor}`)
  const meanwhile = Promise.all(Array.from({ length: 100 }, (_none, n) => send(`{"n":${1_200 + n}}`)))
  await client.until(1_300)
  await meanwhile
  const seen = client.events.map((event) => event.data.data.n)
  assert.deepEqual(
    seen.toSorted((a, b) => a - b),
    Array.from({ length: 1_300 }, (_none, n) => n),
  )
  // From any point on, the rest is exactly what was not seen yet.
  for (const at of [0, 499, 500, 777, 1_199, 1_299]) {
    const again = await tail(`&after=${client.events[at]?.id}`)
    if (at < 1_299) await again.until(1_299 - at)
    await send('{"n":"last"}')
    const last = await again.until(1_300 - at + [0, 499, 500, 777, 1_199, 1_299].indexOf(at))
    assert.equal(last.data.data.n, 'last')
    const rest = again.events.map((event) => event.data.data.n).filter((n) => n !== 'last')
    assert.deepEqual(new Set([...seen.slice(0, at + 1), ...rest]).size, 1_300)
    assert.equal(rest.length, 1_299 - at)
    again.close()
  }
})

test('a comment every 15 seconds says that the stream lives, and moves its cursor on', async () => {
  const client = await tail('&dataset=nothing')
  await send('{}')
  world.clock.advance(15_000)
  await eventually(async () => (client.text().includes(': keepalive\n') ? true : undefined))
  assert.equal(client.events.length, 0)
})

test('the comments are 15 seconds apart', async () => {
  const client = await tail('&dataset=beat')
  const comments = (): number => client.text().split(': keepalive\n').length - 1
  for (const round of [1, 2]) {
    const due = world.clock.now() + 15_000
    world.clock.set(due - 1_500)
    await send('{}', 'beat')
    // As `arrived`, but never so far that the comment is due; it would stand before the event.
    await eventually(async () => {
      if (world.clock.now() < due - 100) world.clock.advance(50)
      return client.events.length === round ? true : undefined
    })
    assert.equal(comments(), round - 1)
    // Streams are looked at four times a second.
    world.clock.set(due + 250)
    await eventually(async () => (comments() === round ? true : undefined))
  }
})

test('a WebSocket is pinged every 30 seconds, and one that does not answer is ended', async () => {
  const [good, silent] = [await tail('', {}, webSocket), await tail('', { paused: true }, webSocket)]
  for (let round = 1; round <= 2; round += 1) {
    world.clock.advance(30_000)
    await eventually(async () => (good.pings() === round ? true : undefined))
    // Its pong is on the way; an event takes longer.
    await send('{}')
    await arrived(good, round)
  }
  silent.resume()
  assert.equal(await silent.ended, 1006)
  await send('{}')
  await arrived(good, 3)
})

test('the stream of a closed workspace says closed, and not suspended', async () => {
  const database = behind(world)
  const socket = await tail('', {}, webSocket)
  const setClosed = async (closed_at: string): Promise<void> => {
    await statement(database, `update workspaces set closed_at = ${closed_at}`)
    world.app.deps.configChanged(decodeId('project', world.installed.project.id) ?? '')
  }
  try {
    await setClosed('now()')
    await eventually(async () => {
      world.clock.advance(250)
      return socket.events.length > 0 ? true : undefined
    })
    assert.deepEqual(socket.events.at(-1)?.data, { reason: 'workspace_closed' })
    assert.equal(await socket.ended, 4403)
    const refused = await fetch(`${world.baseUrl}/v1/stream?key=${key}`)
    assert.deepEqual([refused.status, ((await refused.json()) as { reason: string }).reason], [403, 'workspace_closed'])
  } finally {
    await setClosed('null')
    await database.close()
  }
})

test('the stream of a suspended workspace ends at once and none is opened', async () => {
  const [events, socket] = [await tail(), await tail('', {}, webSocket)]
  const { slug } = world.installed.workspace
  await suspendWorkspace(world.app.deps, { slug, reason: 'test' })
  // A quarter of a second later the streams have looked, and once more for the database's answer.
  world.clock.advance(250)
  await eventually(async () => {
    world.clock.advance(1)
    return socket.events.length > 0 && events.events.length > 0 ? true : undefined
  })
  assert.deepEqual(
    events.events.map(({ type, data }) => [type, data]),
    [['closing', { reason: 'workspace_suspended' }]],
  )
  assert.equal(await events.ended, 0)
  assert.equal(await socket.ended, 4403)
  const refused = await fetch(`${world.baseUrl}/v1/stream?key=${key}`)
  assert.deepEqual(
    [refused.status, ((await refused.json()) as { reason: string }).reason],
    [403, 'workspace_suspended'],
  )
  const late = await tail('', {}, webSocket)
  assert.equal(await late.ended, 4403)
  assert.deepEqual(
    late.events.map((event) => event.data),
    [{ reason: 'workspace_suspended' }],
  )
  await reinstateWorkspace(world.app.deps, { slug })
  assert.equal((await tail()).status, 200)
})

test('more connections than the plan allows are refused, on whichever process, until one ends', async () => {
  const database = behind(world)
  const second = await aWorld({ beside: world })
  try {
    await statement(database, `update workspaces set plan = 'free'`)
    await statement(
      database,
      `update projects set config_version = config_version + 1, config_changed_at = '${new Date(world.clock.now()).toISOString()}'`,
    )
    await eventually(async () => {
      world.clock.advance(500)
      const answers = await Promise.all([tail(), tail(), tail(), tail()])
      return answers.some((client) => client.status === 429) ? true : undefined
    })
    for (const client of open.splice(0)) client.close()
    const first = await eventually(async () => {
      const client = await tail()
      return client.status === 200 ? client : undefined
    })
    const other = await eventually(async () => {
      second.clock.set(world.clock.now())
      const client = await sse(`${second.baseUrl}/v1/stream?key=${key}`)
      open.push(client)
      return client.status === 200 ? client : undefined
    })
    assert.ok(other)
    const refused = await fetch(`${world.baseUrl}/v1/stream?key=${key}`)
    const body = (await refused.json()) as { reason: string; retry_after: number }
    assert.deepEqual([refused.status, body.reason, body.retry_after], [429, 'stream_limit_reached', 10])
    assert.equal(refused.headers.get('retry-after'), '10')
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    assert.equal(await (await tail('', {}, webSocket)).ended, 4429)
    first.close()
    await eventually(async () => ((await tail()).status === 200 ? true : undefined))
  } finally {
    await statement(database, `update workspaces set plan = 'self_hosted'`)
    await statement(
      database,
      `update projects set config_version = config_version + 1, config_changed_at = '${new Date(world.clock.now()).toISOString()}'`,
    )
    await database.close()
    await second.stop()
    world.clock.advance(500)
  }
})

test('revoking the key ends its streams', async () => {
  const made = await anIngestKey(world)
  const client = await sse(`${world.baseUrl}/v1/stream?key=${made.key}`)
  const socket = await webSocket(`${world.baseUrl}/v1/stream?key=${made.key}`)
  open.push(client, socket)
  assert.equal((await world.admin('DELETE', `ingest-keys/${made.id}`)).status, 200)
  world.clock.advance(250)
  assert.deepEqual((await client.until(1)).data, { reason: 'credential_revoked' })
  await client.ended
  assert.deepEqual([await socket.ended, socket.events[0]?.data], [4401, { reason: 'credential_revoked' }])
})

test('the IP allowlist of an ingest key holds for its streams', async () => {
  const made = (await world.admin('POST', 'ingest-keys', { name: 'elsewhere', ip_allowlist: ['203.0.113.0/24'] })).body
  const refused = await fetch(`${world.baseUrl}/v1/stream?key=${made.key}`)
  assert.deepEqual([refused.status, ((await refused.json()) as { reason: string }).reason], [403, 'ip_not_allowed'])
})

test('a client that does not read is cut once it is a megabyte behind, and the others are not', async () => {
  await eventually(async () => ((await clients()) === 0 ? true : undefined))
  for (const speak of [sse, webSocket]) {
    await tail('', { paused: true }, speak)
    const good = await tail()
    const filler = 'x'.repeat(500_000)
    // More than the system holds for a connection, and a megabyte.
    for (let sent = 1; sent <= 40 && (await clients()) === 2; sent += 1) {
      await send(`"${filler}"`)
      await good.until(sent)
    }
    await eventually(async () => ((await clients()) === 1 ? true : undefined), 2_000)
    assert.ok(good.events.every((event) => event.type === 'record'))
    good.close()
    await eventually(async () => ((await clients()) === 0 ? true : undefined))
  }
})

test('a WebSocket is offered by streams only', async () => {
  const response = await fetch(`${world.baseUrl}/healthz`, { headers: {} })
  assert.equal(response.status, 200)
  await assert.rejects(webSocket(`${world.baseUrl}/healthz`), /status 200/)
})
