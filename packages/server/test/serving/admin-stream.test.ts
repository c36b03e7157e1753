import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { aDestination, anIngestKey, post } from '../stage/fixtures.ts'
import { aSink, type World } from '../stage/harness.ts'
import { ask } from '../stage/people.ts'
import { sse, webSocket, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * The live stream of the admin API: the permission to see it, how long it lasts, and the events it shows beside
 * records.
 */
let world: World
let key: string
let cookie: string
const open: StreamClient[] = []

onWorldStage(
  async (stage) => {
    ;({ world } = stage)
    const made = await anIngestKey(world)
    key = made.key
    const token = new URL(world.installed.sign_in_url).hash.slice(3)
    const signedIn = await fetch(`${world.baseUrl}/admin/api/session`, {
      method: 'POST',
      headers: { 'x-requested-with': 'test', 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  },
  { loops: [] },
)
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

const send = (body: string) => post(`${world.baseUrl}/v1/ingest/${key}/events`, body)

test('the admin stream of the workspace and of a project opens with an admin API key, and answers 401 without one', async () => {
  const headers = { authorization: `Bearer ${world.installed.api_key}` }
  const admins = [
    await sse(`${world.baseUrl}/admin/api/stream`, { headers }),
    await sse(`${world.baseUrl}/admin/api/projects/${world.installed.project.id}/stream`, { headers }),
    await webSocket(`${world.baseUrl}/admin/api/stream`, { headers }),
  ]
  open.push(...admins)
  await send('{"seen":"by all"}')
  for (const client of admins) assert.deepEqual((await client.until(1)).data.data, { seen: 'by all' })
  assert.equal(admins[0]?.headers['service-version'], '2026-09-29')
  const refused = await fetch(`${world.baseUrl}/admin/api/stream`)
  assert.equal(refused.status, 401)
  await assert.rejects(webSocket(`${world.baseUrl}/admin/api/stream`), /status 401/)
})

test('a stream with detail=request brings the request of each record as received, live and from storage, and nothing else', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  await aDestination(world, { url: sink.url })
  const headers = { authorization: `Bearer ${world.installed.api_key}` }
  const url = `${world.baseUrl}/admin/api/projects/${world.installed.project.id}/stream?detail=request`
  const live = await sse(url, { headers })
  const plain = await sse(url.replace('?detail=request', ''), { headers })
  open.push(live, plain)
  const text = '{"b": 1.50,\r\n"n":12345678901234567890}'
  const bytes = gzipSync('{"n":2}')
  const sent = [
    await fetch(`${world.baseUrl}/v1/ingest/${key}/events?tenant=acme&token=hush`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signature': 'abc', authorization: 'Bearer hidden' },
      body: text,
    }),
    await fetch(`${world.baseUrl}/v1/ingest/${key}/events`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: bytes,
    }),
  ]
  const ids = await Promise.all(sent.map(async (response) => ((await response.json()) as { id: string }).id))
  const stored = await sse(`${url}&after=${encodeURIComponent(String(live.headers['stream-cursor']))}`, { headers })
  open.push(stored)
  for (const client of [live, stored]) {
    await client.until(2)
    const [first, second] = client.events
    assert.deepEqual([first?.data.submission_id, second?.data.submission_id], ids)
    assert.equal(first?.data.request.body, text)
    const asked = client.events.slice(0, 2).map(({ data: { request } }) => `${request.method} ${request.query}`)
    assert.deepEqual(asked, ['POST tenant=acme&token=•••', 'POST null'])
    assert.equal(first?.data.request.headers['x-signature'], 'abc')
    assert.equal(first?.data.request.headers['authorization'], '•••')
    assert.deepEqual(
      [second?.data.request.body, Buffer.from(second?.data.request.body_base64, 'base64')],
      [null, bytes],
    )
  }
  await plain.until(2)
  assert.ok(plain.events.every((event) => !('request' in event.data)))
  assert.ok([live, stored].every((client) => client.events.every((event) => event.type === 'record')))
  const refused = await fetch(url.replace('request', 'everything'), { headers })
  assert.deepEqual([refused.status, ((await refused.json()) as { reason: string }).reason], [400, 'invalid_request'])
})

test('the admin stream also shows the progress of deliveries', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  const { destination } = await aDestination(world, { url: sink.url })
  const admin = await sse(`${world.baseUrl}/admin/api/stream`, {
    headers: { authorization: `Bearer ${world.installed.api_key}` },
  })
  const plain = await sse(`${world.baseUrl}/v1/stream?key=${key}`)
  open.push(admin, plain)
  await send('{"first":true}')
  await admin.until(1)
  const { body } = await send('{"second":true}')
  // Destinations of earlier tests receive the record too.
  const frames = () =>
    admin.events.filter(
      ({ type, data }) =>
        type === 'delivery' && data.record_id === body.records[0].id && data.destination_id === destination.id,
    )
  await world.idle()
  world.clock.advance(1_000)
  await admin.first((event) => frames().includes(event) && event.data.state === 'delivered')
  const { body: read } = await world.admin(
    'GET',
    `deliveries?record_id=${body.records[0].id}&destination_id=${destination.id}`,
  )
  // A change contains only the changed members: the list adds the event and its `held_by`.
  const { held_by: _held, event: _event, ...change } = read.deliveries[0]
  assert.deepEqual(frames().at(-1)?.data, change)
  assert.ok(plain.events.every((event) => event.type === 'record'))
})

test('the admin stream reports what holds deliveries back, when it changes', async (t) => {
  const sink = await aSink()
  t.after(() => sink.stop())
  const { destination } = await aDestination(world, { url: sink.url })
  const turn = (enabled: boolean) => world.admin('PATCH', `destinations/${destination.id}`, { enabled })
  await turn(false)
  const admin = await sse(`${world.baseUrl}/admin/api/projects/${world.installed.project.id}/stream`, {
    headers: { authorization: `Bearer ${world.installed.api_key}` },
  })
  open.push(admin)
  await send('{"held":true}')
  const told = async (is: (causes: readonly string[]) => boolean) => {
    await world.idle()
    world.clock.advance(1_000)
    const { data } = await admin.first(
      (event) =>
        event.type === 'holds' &&
        is(event.data.holds.filter((one: any) => one.destination_id === destination.id).map(({ cause }: any) => cause)), // oxlint-disable-line typescript/no-explicit-any -- frames are read as a client without types would
    )
    return data
  }
  const data = await told(([cause]) => cause === 'destination_off')
  assert.deepEqual(data, (await world.admin('GET', `projects/${world.installed.project.id}/delivery-holds`)).body)
  await turn(true)
  await told((causes) => causes.length === 0)
})

test('revoking an admin API key ends its streams a few seconds later, and leaves them alone until then', async () => {
  const page = { cookie, 'x-requested-with': 'test' }
  const { api_key, key: hk } = (
    await ask(world, 'POST api-keys', { headers: page, body: { name: 'to be revoked', role: 'viewer' } })
  ).body
  const headers = { authorization: `Bearer ${hk}` }
  const [events, socket] = [
    await sse(`${world.baseUrl}/admin/api/stream`, { headers }),
    await webSocket(`${world.baseUrl}/admin/api/stream`, { headers }),
  ]
  open.push(events, socket)
  for (let step = 0; step < 24; step += 1) {
    world.clock.advance(250)
    await world.quiet()
  }
  await send('{"seen":true}')
  // The stream also shows the progress of deliveries of earlier tests.
  for (const client of [events, socket])
    await client.first(({ type, data }) => type === 'record' && data.data.seen === true)
  assert.equal((await ask(world, `DELETE api-keys/${api_key.id}`, { headers: page })).status, 200)
  for (let step = 0; step < 24; step += 1) {
    world.clock.advance(250)
    await world.quiet()
  }
  for (const client of [events, socket]) await client.first(({ type }) => type === 'closing')
  for (const client of [events, socket]) assert.deepEqual(client.events.at(-1)?.data, { reason: 'credential_revoked' })
  assert.deepEqual([await events.ended, await socket.ended], [0, 4401])
})

test('a WebSocket with a session opens only for pages of this server', async () => {
  await assert.rejects(
    webSocket(`${world.baseUrl}/admin/api/stream`, { headers: { cookie, origin: 'https://evil.example' } }),
    /status 403/,
  )
  const own = await webSocket(`${world.baseUrl}/admin/api/stream`, { headers: { cookie, origin: world.baseUrl } })
  open.push(own)
  await send('{}')
  await own.until(1)
})
