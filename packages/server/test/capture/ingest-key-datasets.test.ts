import assert from 'node:assert/strict'
import { afterEach, describe, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { sse, type StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** An ingest key that is limited to some datasets. Two nodes share one database. */
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

describe('datasets', () => {
  test('a limited key writes to its datasets, and every other dataset is refused before anything is stored', async () => {
    await aWebhook(world, { slug: 'inside', dataset: 'mine' })
    await aWebhook(world, { slug: 'outside', dataset: 'theirs' })
    const { key } = await anIngestKey(world, { datasets: ['mine'] })
    assert.deepEqual([await statusOf(`ingest/${key}/mine`), await statusOf(`webhooks/${key}/inside`)], ['201', '201'])
    const had = await stored()
    for (const path of [`ingest/${key}/theirs`, `webhooks/${key}/outside`]) {
      const { status, body } = await send(path)
      assert.deepEqual([status, body.reason], [403, 'dataset_not_allowed'])
      assert.equal(
        body.error,
        'This ingest key cannot write to "theirs". Add the dataset to the key, or use another key.',
      )
    }
    assert.equal(await stored(), had)
  })

  test('by rules a limited key files an event into all of its datasets, or refuses the whole event', async () => {
    const { body } = await world.admin('POST', 'projects', { name: 'ruled' })
    const ruled: World = {
      ...world,
      admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
    }
    await aRule(ruled, { dataset: 'mine' })
    const stray = await aRule(ruled, { dataset: 'theirs', conditions: [{ path: 'kind', equals: 'x' }] })
    const { id, key } = await anIngestKey(ruled, { datasets: ['mine'] })
    assert.equal(await statusOf(`ingest/${key}`), '201')
    const had = await stored()
    const refused = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"kind":"x"}')
    assert.deepEqual([refused.status, refused.body.reason], [403, 'dataset_not_allowed'])
    assert.match(refused.body.error, /^A rule files this event into "theirs"/)
    assert.equal(await stored(), had)
    await ruled.admin('PATCH', `ingest-keys/${id}`, { datasets: ['mine', stray.dataset] })
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}`, '{"kind":"x"}')).body.routed.length, 2)
  })

  test('a limited key streams only its datasets, and is refused when it asks for another', async () => {
    const all = await anIngestKey(world)
    const { key } = await anIngestKey(world, { datasets: ['seen', 'seen_too'] })
    const [client, narrow] = [await tail(key), await tail(key, '&dataset=seen')]
    for (const dataset of ['unseen', 'seen', 'seen_too']) await send(`ingest/${all.key}/${dataset}`)
    await client.until(2)
    await narrow.until(1)
    assert.deepEqual(
      client.events.map(({ data }) => data.dataset).toSorted((a, b) => (a < b ? -1 : 1)),
      ['seen', 'seen_too'],
    )
    assert.deepEqual(
      narrow.events.map(({ data }) => data.dataset),
      ['seen'],
    )
    const { status, body } = await refusedStream(key, '&dataset=seen,unseen')
    assert.deepEqual(
      [status, body.reason, body.error],
      [
        403,
        'dataset_not_allowed',
        'This ingest key cannot stream "unseen". Add the dataset to the key, or use another key.',
      ],
    )
  })

  test('a stream ends when its key may see less than the stream shows', async () => {
    const { id, key } = await anIngestKey(world)
    const [client, narrow] = [await tail(key), await tail(key, '&dataset=seen')]
    await change(id, { datasets: ['seen'] })
    world.clock.advance(250)
    assert.equal((await client.until(1)).data.reason, 'credential_revoked')
    assert.ok(!narrow.events.some(({ type }) => type === 'closing'))
    const widened = await change(id, { datasets: null })
    assert.equal(widened.body.ingest_key.datasets, null)
  })
})
