import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createListeners, type Listeners } from '../../src/pipeline/sources/index.ts'
import { sql } from '../../src/platform/db.ts'
import { aName } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { aSocketServer, type SocketServer } from '../stage/socket-server.ts'
import { asked, payloadsIn, placeOf, setSuspended, sourceDeps } from '../stage/source-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** WebSocket triggers, with a real server. The world has no role `work`, so a test runs the listeners of two nodes itself. */
let world: World
let other: World
let feed: SocketServer
let here: Listeners
let there: Listeners

onWorldStage(
  async (made) => {
    ;({ world } = made)
    other = await aWorld({ beside: world, env: { ROLES: 'web' } })
    made.atEnd(() => other.stop())
  },
  { env: { ROLES: 'web' }, loops: [] },
)
beforeEach(async () => {
  feed = await aSocketServer()
  here = createListeners(sourceDeps(world), 'here')
  there = createListeners(sourceDeps(other), 'there')
})
afterEach(async () => {
  await Promise.all([here.stop(), there.stop()])
  await world.app.deps.database.run(sql`delete from ws_triggers where workspace_id = ${placeOf(world).workspaceId}`)
  await feed.stop()
})

let made = 0
async function aTrigger(members: object = {}): Promise<Answer['body']> {
  made += 1
  const body = { name: aName('trigger'), url: feed.url, dataset: `frames${made}`, heartbeat: null, ...members }
  return (await asked(world, 'POST ws-triggers', body)).ws_trigger
}
const triggerOf = async (id: string): Promise<Answer['body']> =>
  (await asked(world, `GET ws-triggers/${id}`)).ws_trigger
function advance(ms: number): void {
  for (const node of [world, other]) node.clock.advance(ms)
}
const until = (holds: () => boolean | Promise<boolean>): Promise<true> =>
  eventually(holds.toString(), async () => ((await holds()) ? true : undefined), 20_000)
const connected = (count = 1): Promise<true> => until(() => feed.open.size === count)
const frames = (dataset: string, count: number): Promise<true> =>
  until(async () => (await payloadsIn(world, dataset)).length >= count)

test('each message becomes one event: JSON as it is, other text as a JSON string, bytes as base64', async () => {
  const { id, dataset } = await aTrigger()
  await here.run()
  await connected()
  feed.send('{"price": 12345678901234567890.10}')
  feed.send('not "JSON"')
  feed.send(Buffer.from([0, 255]))
  await frames(dataset, 3)
  assert.deepEqual(await payloadsIn(world, dataset), [
    '{"price": 12345678901234567890.10}',
    '"not \\"JSON\\""',
    '{"base64":"AP8="}',
  ])
  await here.run()
  const trigger = await triggerOf(id)
  assert.deepEqual(
    [trigger.state, trigger.received, trigger.filed, trigger.dropped, trigger.last_error],
    ['connected', 3, 3, 0, null],
  )
  assert.ok(trigger.connected_at !== null && trigger.last_message_at !== null)
  const { submissions } = await asked(world, 'GET submissions?limit=1')
  assert.deepEqual(submissions[0].origin, { kind: 'ws_trigger', id })
})

test('a trigger connects with its headers and sends its subscribe messages in order; no answer shows either', async () => {
  const secret = 'token-canary-5f'
  const { id, headers, subscribe_messages } = await aTrigger({
    headers: { Authorization: `Bearer ${secret}` },
    subscribe: [`{"auth":"${secret}"}`, '{"subscribe":"trades"}'],
  })
  await here.run()
  await until(() => feed.heard.length === 2)
  assert.deepEqual(feed.heard, [`{"auth":"${secret}"}`, '{"subscribe":"trades"}'])
  assert.equal(feed.requests[0]?.headers.authorization, `Bearer ${secret}`)
  assert.deepEqual([headers, subscribe_messages], [{ Authorization: { has_value: true } }, 2])
  const texts = [
    JSON.stringify(await asked(world, `GET ws-triggers/${id}`)),
    JSON.stringify(await asked(world, 'GET audit')),
    JSON.stringify(await asked(world, 'GET config/export')),
    ...(await world.app.deps.database.many<{ row: string }>(sql`select t::text as row from ws_triggers t`)).map(
      ({ row }) => row,
    ),
  ]
  assert.ok(!texts.some((text) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'))))
})

test('only messages that meet the conditions become events, compared strictly', async () => {
  const { id, dataset } = await aTrigger({ conditions: [{ path: 'size', equals: 5 }] })
  await here.run()
  await connected()
  for (const frame of ['{"size":"5"}', '{"size":5}', 'text', '{"size":6}', '{"size":5,"last":true}']) feed.send(frame)
  await frames(dataset, 2)
  await here.run()
  assert.deepEqual(await payloadsIn(world, dataset), ['{"size":5}', '{"size":5,"last":true}'])
  const { received, filed, dropped } = await triggerOf(id)
  assert.deepEqual([received, filed, dropped], [5, 2, 0])
})

test('one process at a time is connected, and another one takes over when its lease ends', async () => {
  const { dataset } = await aTrigger()
  await here.run()
  await there.run()
  await connected()
  assert.equal(feed.requests.length, 1)
  // The first process hangs, so it no longer renews its lease.
  advance(16_000)
  await there.run()
  await connected(2)
  feed.send('{"n":1}')
  await frames(dataset, 1)
  await here.run()
  await until(() => feed.open.size === 1)
  assert.deepEqual(await payloadsIn(world, dataset), ['{"n":1}'], 'the fence lets the holder store it alone')
})

test('two processes that look at the same moment connect once', async () => {
  await aTrigger()
  await Promise.all([here.run(), there.run(), here.run(), there.run()])
  await connected()
  await Promise.all([here.run(), there.run()])
  assert.equal(feed.requests.length, 1)
})

test('a process that stops releases the trigger, so another one connects immediately', async () => {
  const { dataset } = await aTrigger()
  await here.run()
  await connected()
  feed.send('{"n":1}')
  await until(async () => (await payloadsIn(world, dataset)).length === 1)
  await here.stop()
  assert.deepEqual([feed.closed.length <= 1, (await payloadsIn(world, dataset)).length], [true, 1])
  await there.run()
  await until(() => feed.requests.length === 2)
})

test('a suspension closes the connection with 1000, and a reinstatement connects again', async () => {
  const { id } = await aTrigger()
  await here.run()
  await connected()
  await setSuspended(world, true)
  await here.run()
  await until(() => feed.closed.length === 1)
  assert.deepEqual(feed.closed, [1000])
  await until(async () => (await triggerOf(id)).state === 'waiting')
  advance(60_000)
  await here.run()
  assert.equal(feed.requests.length, 1, 'nobody connects while it is suspended')
  await setSuspended(world, false)
  await here.run()
  await connected()
})

test('a change immediately reconnects with the new settings, and a deletion closes the connection', async () => {
  const { id } = await aTrigger()
  await here.run()
  await connected()
  await asked(world, `PATCH ws-triggers/${id}`, { subscribe: ['again'] })
  await here.run()
  await until(() => feed.heard.includes('again'))
  await until(() => feed.open.size === 1)
  await asked(world, `DELETE ws-triggers/${id}`)
  await here.run()
  await until(() => feed.open.size === 0)
  assert.deepEqual(feed.closed, [1000, 1000])
})

test('a heartbeat is a ping of the protocol, or a message', async () => {
  await aTrigger({ heartbeat: { every_seconds: 10 } })
  await aTrigger({ heartbeat: { every_seconds: 10, message: '{"ping":1}' } })
  await here.run()
  await connected(2)
  await until(async () => (await asked(world, 'GET ws-triggers')).ws_triggers.length === 2)
  await until(() => {
    advance(1_000)
    return feed.pings() > 0 && feed.heard.includes('{"ping":1}')
  })
})

test('a connection on which nothing arrives is replaced', async () => {
  const { id } = await aTrigger({ stale_seconds: 10 })
  await here.run()
  await connected()
  await until(async () => {
    advance(1_000)
    await here.run()
    return (await triggerOf(id)).last_error?.reason === 'stale'
  })
  await until(async () => {
    advance(1_000)
    await here.run()
    return feed.requests.length >= 2
  })
})

test('a trigger reconnects after a random part of a pause that grows with every failure, up to five minutes', async () => {
  const { id } = await aTrigger({ url: 'ws://127.0.0.1:9/' })
  const listeners = createListeners({ ...sourceDeps(world), random: () => 1 }, 'certain')
  const pauses: number[] = []
  for (let tries = 1; tries <= 11; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- try after try
    await listeners.run()
    // oxlint-disable-next-line no-await-in-loop -- as above
    const failed = await eventually('the trigger has failed again', async () => {
      const trigger = await triggerOf(id)
      return trigger.failures === tries && trigger.state === 'waiting' ? trigger : undefined
    })
    pauses.push((Date.parse(failed.next_connect_at) - world.clock.now()) / 1_000)
    assert.equal(failed.last_error.reason, 'connection_failed')
    advance(pauses.at(-1)! * 1_000) // oxlint-disable-line typescript/no-non-null-assertion -- pushed above
  }
  assert.deepEqual(pauses, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
})

test('a message that is too large ends the connection, with the reason', async () => {
  const { id } = await aTrigger({ max_payload_bytes: 100 })
  await here.run()
  await connected()
  feed.send('x'.repeat(200))
  const { last_error: error } = await eventually('the connection has ended', async () => {
    const trigger = await triggerOf(id)
    return trigger.state === 'waiting' ? trigger : undefined
  })
  assert.match(error.error, /Max payload size exceeded/)
})

test('messages that arrive faster than they can be stored are dropped and counted, and memory is bounded', async () => {
  const { id, dataset } = await aTrigger()
  const gate = Promise.withResolvers<undefined>()
  const slow: typeof world.app.acceptAll = async (captured, alongside) => {
    await gate.promise
    return world.app.acceptAll(captured, alongside)
  }
  const listeners = createListeners({ ...sourceDeps(world), acceptAll: slow }, 'slow')
  await listeners.run()
  await connected()
  for (let n = 0; n < 1_500; n += 1) feed.send(`{"n":${n}}`)
  await until(async () => {
    await listeners.run()
    return (await triggerOf(id)).received === 1_500
  })
  gate.resolve(undefined)
  await frames(dataset, 1_000)
  await until(async () => (await triggerOf(id)).filed === 1_000)
  const { dropped } = await triggerOf(id)
  assert.equal(dropped, 500)
  assert.equal((await payloadsIn(world, dataset)).at(-1), '{"n":999}')
  await listeners.stop()
})

test('a batch whose commit succeeded without an answer is not stored again, and the next messages follow it', async () => {
  let lost = 0
  const loses: typeof world.app.acceptAll = async (captured, alongside) => {
    const outcomes = await world.app.acceptAll(captured, alongside)
    lost += 1
    if (lost > 2) return outcomes
    // More arrives before the same batch is tried again.
    feed.send(JSON.stringify({ n: captured.length + lost * 10 }))
    throw new Error('The answer of the commit was lost.')
  }
  const listeners = createListeners({ ...sourceDeps(world), acceptAll: loses }, 'losing')
  const { id, dataset } = await aTrigger()
  await listeners.run()
  await connected()
  feed.send('{"n":1}')
  await until(async () => {
    advance(1_000)
    return (await payloadsIn(world, dataset)).length >= 3
  })
  assert.deepEqual(await payloadsIn(world, dataset), ['{"n":1}', '{"n":11}', '{"n":21}'])
  await listeners.stop()
  const { received, filed, dropped } = await triggerOf(id)
  assert.deepEqual([received, filed, dropped], [3, 3, 0])
})

test('plain ws goes only to addresses in OUTBOUND_ALLOW, and the guard checks every address', async () => {
  const guarded = await aWorld({
    env: { ROLES: 'web', OUTBOUND_ALLOW: '' },
    resolver: {
      resolve: () => Promise.resolve({ kind: 'addresses', source: 'dns', addresses: ['10.0.0.1'] }),
      close: () => undefined,
    },
    loops: [],
  })
  const listeners = createListeners(sourceDeps(guarded), 'guarded')
  try {
    const send = (url: string): Promise<Answer> =>
      guarded.admin('POST', 'ws-triggers', { name: aName('guarded'), url, dataset: 'd' })
    for (const url of [
      'ws://stream.example.com/',
      'ws://127.0.0.1/',
      'wss://169.254.169.254/',
      'https://example.com/',
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await send(url)
      assert.equal(status, 400, url)
      assert.match(body.error, /^url:? /)
    }
    const { ws_trigger: trigger } = (await send('wss://stream.example.com/')).body
    await listeners.run()
    const { last_error: error } = await eventually('the trigger has an error', async () => {
      const shown = (await guarded.admin('GET', `ws-triggers/${trigger.id}`)).body.ws_trigger
      return shown.last_error === null ? undefined : shown
    })
    assert.equal(error.reason, 'blocked_address')
  } finally {
    await listeners.stop()
    await guarded.stop()
  }
})

test('stored headers and messages go only to the origin that they were set for', async () => {
  const { id } = await aTrigger({ headers: { 'X-Token': 'a' }, subscribe: ['b'] })
  const moved = feed.url.replace('127.0.0.1', 'localhost')
  const change = (body: object): Promise<Answer> => world.admin('PATCH', `ws-triggers/${id}`, body)
  assert.equal((await change({ url: moved })).status, 400)
  assert.equal((await change({ url: moved, headers: { 'X-Token': null }, subscribe: ['b'] })).status, 400)
  assert.equal((await change({ url: moved, headers: { 'X-Token': 'a' } })).status, 400)
  assert.equal((await change({ url: `${feed.url}/other` })).status, 200)
  assert.equal((await change({ url: moved, headers: { 'X-Token': 'a' }, subscribe: ['b'] })).status, 200)
})
