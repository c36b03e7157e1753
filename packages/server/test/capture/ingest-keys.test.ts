import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { touchIngestKey } from '../../src/resources/capture/ingest-keys/queries.ts'
import { anIngestKey, aWebhook, post, submissionOf } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { sse, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The rights of an ingest key, one sentence each. Two nodes share one database. */
const MINUTE_MS = 60_000
let world: World
let second: World
let database: Database
const open: StreamClient[] = []

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    second = await aWorld({ beside: world, env: { ROLES: 'web' } })
    made.atEnd(() => second.stop())
  },
  { loops: [] },
)
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

const change = (id: string, members: object): Promise<Answer> => world.admin('PATCH', `ingest-keys/${id}`, members)
const send = (path: string, headers: Record<string, string> = {}, node = world): Promise<Answer> =>
  post(`${node.baseUrl}/v1/${path}`, '{"a":1}', { headers })
const stored = async (): Promise<number> =>
  (await database.one<{ n: number }>(sql`select count(*) as n from submissions`)).n

async function statusOf(path: string, headers: Record<string, string> = {}, node = world): Promise<string> {
  const { status, body } = await send(path, headers, node)
  return status === 201 ? '201' : `${status} ${body.reason}`
}

async function tail(key: string, query = ''): Promise<StreamClient> {
  const client = await sse(`${world.baseUrl}/v1/stream?key=${key}${query}`)
  open.push(client)
  return client
}

async function refusedStream(key: string, query = ''): Promise<Answer> {
  const response = await fetch(`${world.baseUrl}/v1/stream?key=${key}${query}`)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

describe('the key as a resource', () => {
  test('a key is shown once; the list, the single key and its changes show only a prefix', async () => {
    const { status, body, headers } = await world.admin('POST', 'ingest-keys', { name: 'shop' })
    assert.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
    assert.match(body.key, /^ik_live_[0-9A-Za-z]{43}$/)
    const now = new Date(world.clock.now()).toISOString()
    const { id, ...members } = body.ingest_key
    assert.deepEqual(members, {
      name: 'shop',
      shown_prefix: body.key.slice(0, 12),
      enabled: true,
      scopes: ['ingest', 'stream'],
      datasets: null,
      ip_allowlist: [],
      require_signature: false,
      customer: null,
      previous_signing_secret_expires_at: null,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    const said = await Promise.all([
      world.admin('GET', 'ingest-keys'),
      world.admin('GET', `ingest-keys/${id}`),
      change(id, { name: 'other' }),
    ])
    for (const answer of said) assert.ok(!JSON.stringify(answer.body).includes(body.key.slice(12)))
  })

  test('a malformed request is refused, and the error names the member and the remedy', async () => {
    const bad: [object, RegExp][] = [
      [{ scopes: [] }, /^scopes: A key has at least one scope; to stop it for a while, set "enabled" to false\.$/],
      [{ scopes: ['admin'] }, /^scopes\[0\]: A scope is ingest or stream\.$/],
      [{ datasets: [] }, /^datasets: Name at least one dataset, or send null for every dataset\.$/],
      [{ datasets: ['9'] }, /^datasets\[0\]/],
      [{ datasets: Array.from({ length: 101 }, (_none, at) => `d${at}`) }, /^datasets: Name at most 100/],
      [{ ip_allowlist: ['here'] }, /^ip_allowlist\[0\]/],
      [{ require_signature: 'yes' }, /^require_signature/],
    ]
    const { id } = await anIngestKey(world)
    for (const [members, text] of bad) {
      for (const answer of [
        await world.admin('POST', 'ingest-keys', { name: 'bad', ...members }),
        await change(id, members),
      ]) {
        assert.equal(answer.status, 400)
        assert.match(answer.body.error, text)
      }
    }
  })

  test('events and streams record the time of the last use of their key at most once a minute; requests without a key record nothing', async () => {
    const { id, key } = await anIngestKey(world)
    const lastUsed = async (): Promise<string | null> =>
      (await world.admin('GET', `ingest-keys/${id}`)).body.ingest_key.last_used_at
    const first = new Date(world.clock.now()).toISOString()
    await send(`ingest/${key}/d`)
    await world.idle()
    assert.equal(await lastUsed(), first)
    world.clock.advance(MINUTE_MS - 1)
    await send(`ingest/${key}/d`)
    await world.idle()
    assert.equal(await lastUsed(), first)
    const {
      workspace_id: workspaceId,
      project_id: projectId,
      id: uuid,
    } = await database.one<{ workspace_id: string; project_id: string; id: string }>(
      sql`select workspace_id, project_id, id from ingest_keys where id = ${decodeId('ingestKey', id) ?? ''}`,
    )
    const anotherNode = (): Promise<number> =>
      touchIngestKey(database, { workspaceId, projectId, id: uuid, now: new Date(world.clock.now()) })
    assert.equal(await anotherNode(), 0, 'however many nodes there are')
    world.clock.advance(1)
    await tail(key)
    await world.idle()
    assert.equal(await lastUsed(), new Date(world.clock.now()).toISOString())
  })
})

describe('Authorization: Bearer', () => {
  test('an ingest key can be sent in the header instead of the path, in each of the three forms', async () => {
    const { key } = await anIngestKey(world)
    const { slug, dataset } = await aWebhook(world)
    const authorization = `Bearer ${key}`
    const whole = await send('ingest/orders', { authorization })
    const through = await send(`webhooks/${slug}`, { authorization })
    const ruled = await send('ingest', { authorization })
    assert.deepEqual(
      [whole.status, whole.body.dataset, through.status, through.body.dataset, ruled.status, ruled.body.routed],
      [201, 'orders', 201, dataset, 201, []],
    )
    assert.equal((await submissionOf(world, whole.body.id)).headers.authorization, '•••')
  })

  test('a key in the path takes precedence, and the server ignores a bearer that is not an ingest key', async () => {
    const { key } = await anIngestKey(world)
    assert.equal(await statusOf(`ingest/${key}/orders`, { authorization: 'Bearer ik_live_unknown' }), '201')
    assert.equal(await statusOf(`ingest/${key}`, { authorization: 'Bearer something' }), '201')
    assert.equal(
      await statusOf('ingest/orders', { authorization: 'Bearer ik_live_unknown' }),
      '404 ingest_key_not_found',
    )
    assert.equal(await statusOf('ingest', { authorization: 'Bearer something' }), '404 route_not_found')
  })
})

describe('the switch', () => {
  test('a key that is turned off answers 503 on every form and 401 to streams, names the cause, and stores nothing', async () => {
    await aWebhook(world, { slug: 'switched' })
    const { id, key } = await anIngestKey(world)
    const client = await tail(key)
    assert.equal((await change(id, { enabled: false })).status, 200)
    const had = await stored()
    for (const path of [`ingest/${key}`, `ingest/${key}/d`, `webhooks/${key}/switched`]) {
      const { status, body } = await send(path)
      assert.deepEqual(
        [status, body.reason, body.error],
        [503, 'endpoint_disabled', 'This ingest key is turned off. Enable it to accept requests again.'],
      )
    }
    assert.equal(await stored(), had)
    const { status, body } = await refusedStream(key)
    assert.deepEqual([status, body.error], [401, 'This ingest key is turned off. Enable it to stream again.'])
    world.clock.advance(250)
    assert.equal((await client.until(1)).data.reason, 'credential_revoked')
    await change(id, { enabled: true })
    assert.equal(await statusOf(`ingest/${key}/d`), '201')
  })

  test('the switch takes effect on other nodes too', async () => {
    const { id, key } = await anIngestKey(world)
    assert.equal(await statusOf(`ingest/${key}/d`, {}, second), '201')
    await change(id, { enabled: false })
    await world.idle()
    assert.equal(await statusOf(`ingest/${key}/d`, {}, second), '503 endpoint_disabled')
  })
})

describe('scopes', () => {
  test('a key without the scope ingest cannot send; a key without the scope stream cannot read', async () => {
    const reader = await anIngestKey(world, { scopes: ['stream'] })
    const { status, body } = await send(`ingest/${reader.key}/d`)
    assert.deepEqual(
      [status, body.reason, body.error],
      [
        403,
        'scope_missing',
        'This ingest key cannot send events. Add the scope "ingest" to the key, or use another key.',
      ],
    )
    assert.equal((await tail(reader.key)).status, 200)
    const writer = await anIngestKey(world, { scopes: ['ingest'] })
    assert.equal(await statusOf(`ingest/${writer.key}/d`), '201')
    const refused = await refusedStream(writer.key)
    assert.deepEqual(
      [refused.status, refused.body.reason, refused.body.error],
      [403, 'scope_missing', 'This ingest key cannot stream. Add the scope "stream" to the key, or use another key.'],
    )
  })

  test('a stream ends when its key loses the scope', async () => {
    const { id, key } = await anIngestKey(world)
    const client = await tail(key)
    await change(id, { scopes: ['ingest'] })
    world.clock.advance(250)
    assert.equal((await client.until(1)).data.reason, 'credential_revoked')
  })
})

test('a key that was created on one node immediately streams on the other', async () => {
  await send(`ingest/${(await anIngestKey(world)).key}/d`, {}, second)
  const { wakeups } = world.app.deps
  const tell = wakeups.tell.bind(wakeups)
  wakeups.tell = () => undefined
  const { key } = await anIngestKey(world)
  wakeups.tell = tell
  const client = await sse(`${second.baseUrl}/v1/stream?key=${key}`)
  open.push(client)
  assert.equal(client.status, 200)
})
