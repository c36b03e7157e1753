import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { reinstateWorkspace, suspendWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { anIngestKey, behind, post, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type World } from '../stage/harness.ts'
import { sse, webSocket, type Opening, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The limits and the end of a stream: heartbeats, suspension, the plan, revoked keys, slow clients. */
let world: World
let key: string
const open: StreamClient[] = []

onWorldStage(
  async (stage) => {
    ;({ world } = stage)
    const made = await anIngestKey(world)
    key = made.key
  },
  { loops: ['directory.poll'] },
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

/** Moves the clock when nothing is under way: a read that is under way meanwhile would pause for up to a second. */
async function later(ms: number): Promise<void> {
  await world.quiet()
  world.clock.advance(ms)
}

async function clients(): Promise<number> {
  const text = await (await fetch(`${world.baseUrl}/metrics`)).text()
  return Number(/^postroad_stream_connections (\d+)$/m.exec(text)?.[1])
}

/** A client leaves when the network reports it. */
async function nobodyStreams(): Promise<void> {
  await eventually('the server has noticed that its clients left', async () =>
    (await clients()) === 0 ? true : undefined,
  )
  await world.quiet()
}

test('a stream without events gets a comment after 15 seconds', async () => {
  const client = await tail('&dataset=nothing')
  await send('{}')
  await later(15_000)
  // The event comes after the comment.
  await send('{}', 'nothing')
  await client.until(1)
  assert.match(client.text(), /: keepalive\n[^]*event: record/)
  assert.doesNotMatch(client.text(), /event: record[^]*: keepalive\n/)
})

test('the comments are 15 seconds apart', async () => {
  const client = await tail('&dataset=beat')
  const comments = (): number => client.text().split(': keepalive\n').length - 1
  for (const round of [1, 2, 3]) {
    await later(13_500)
    // The event comes after the comment of the previous round, and before the next one.
    await send('{}', 'beat')
    await client.until(round)
    assert.equal(comments(), round - 1)
    // The server checks streams four times a second.
    await later(1_750)
  }
})

test('the server pings a WebSocket every 30 seconds, and ends one that does not answer', async () => {
  const [good, silent] = [await tail('', {}, webSocket), await tail('', { paused: true }, webSocket)]
  for (let round = 1; round <= 2; round += 1) {
    await later(30_000)
    // The event comes after the ping, and its arrival takes longer than the pong.
    await send('{}')
    await good.until(round)
    assert.equal(good.pings(), round)
  }
  silent.resume()
  assert.equal(await silent.ended, 1006)
  await send('{}')
  await good.until(3)
})

test('the stream of a closed workspace reports that it is closed, and not that it is suspended', async () => {
  const database = behind(world)
  const socket = await tail('', {}, webSocket)
  const setClosed = async (closed_at: string): Promise<void> => {
    await statement(database, `update workspaces set closed_at = ${closed_at}`)
    world.app.deps.configChanged(decodeId('project', world.installed.project.id) ?? '')
  }
  try {
    await setClosed('now()')
    await later(250)
    await socket.until(1)
    assert.deepEqual(socket.events.at(-1)?.data, { reason: 'workspace_closed' })
    assert.equal(await socket.ended, 4403)
    const refused = await fetch(`${world.baseUrl}/v1/stream?key=${key}`)
    assert.deepEqual([refused.status, ((await refused.json()) as { reason: string }).reason], [403, 'workspace_closed'])
  } finally {
    await setClosed('null')
    await database.close()
  }
})

test('the stream of a suspended workspace ends immediately, and none can be opened', async () => {
  const [events, socket] = [await tail(), await tail('', {}, webSocket)]
  const { slug } = world.installed.workspace
  await suspendWorkspace(world.app.deps, { slug, reason: 'test' })
  // The streams check after a quarter of a second.
  await later(250)
  await socket.until(1)
  await events.until(1)
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

test('connections beyond the limit of the plan are refused, on every process, until one ends', async () => {
  const database = behind(world)
  const second = await aWorld({ beside: world })
  try {
    await statement(database, `update workspaces set plan = 'free'`)
    await statement(
      database,
      `update projects set config_version = config_version + 1, config_changed_at = '${new Date(world.clock.now()).toISOString()}'`,
    )
    await later(500)
    second.clock.set(world.clock.now())
    await world.quiet()
    const answers = await Promise.all([tail(), tail(), tail(), tail()])
    assert.ok(answers.some((client) => client.status === 429))
    for (const client of open.splice(0)) client.close()
    await nobodyStreams()
    const first = await tail()
    const other = await sse(`${second.baseUrl}/v1/stream?key=${key}`)
    open.push(other)
    assert.deepEqual([first.status, other.status], [200, 200])
    const refused = await fetch(`${world.baseUrl}/v1/stream?key=${key}`)
    const body = (await refused.json()) as { reason: string; retry_after: number }
    assert.deepEqual([refused.status, body.reason, body.retry_after], [429, 'stream_limit_reached', 10])
    assert.equal(refused.headers.get('retry-after'), '10')
    assert.equal(refused.headers.get('access-control-allow-origin'), '*')
    assert.equal(await (await tail('', {}, webSocket)).ended, 4429)
    first.close()
    await nobodyStreams()
    assert.equal((await tail()).status, 200)
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

test('the IP allowlist of an ingest key applies to its streams', async () => {
  const made = (await world.admin('POST', 'ingest-keys', { name: 'elsewhere', ip_allowlist: ['203.0.113.0/24'] })).body
  const refused = await fetch(`${world.baseUrl}/v1/stream?key=${made.key}`)
  assert.deepEqual([refused.status, ((await refused.json()) as { reason: string }).reason], [403, 'ip_not_allowed'])
})

test('a client that does not read is cut once it is a megabyte behind, and other clients are not', async () => {
  await nobodyStreams()
  for (const speak of [sse, webSocket]) {
    await tail('', { paused: true }, speak)
    const good = await tail()
    const filler = 'x'.repeat(500_000)
    // More than the system buffers for a connection, and a megabyte.
    for (let sent = 1; sent <= 40 && (await clients()) === 2; sent += 1) {
      await send(`"${filler}"`)
      await good.until(sent)
    }
    await eventually('the server has cut the client off', async () => ((await clients()) === 1 ? true : undefined))
    assert.ok(good.events.every((event) => event.type === 'record'))
    good.close()
    await nobodyStreams()
  }
})
