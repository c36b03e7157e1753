import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anIngestKey, aWebhook, post, recordOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The facts that a record shows about its sender: the endpoint, and the title from the headers of the request. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

async function titleOf(url: string, headers: Record<string, string>): Promise<string | null> {
  const { body } = await post(url, '{"name":"Ada"}', { headers })
  return (await recordOf(world, body.records[0].id)).header_title
}

test('a record names its endpoint and has the title from the header of a known sender', async () => {
  const { id, public_url } = await aWebhook(world, { dataset: 'Titled' })
  const { body } = await post(public_url, '{}', { headers: { 'x-github-event': 'push' } })
  await post(public_url, '{}')
  const seen = async (path: string): Promise<unknown[]> =>
    (await world.admin('GET', path)).body.records.map((row: Answer['body']) => [row.webhook_id, row.header_title])
  const expected = [
    [id, null],
    [id, 'push'],
  ]
  assert.deepEqual(await seen('records?dataset=Titled'), expected)
  assert.deepEqual(await seen('search/events?dataset=Titled'), expected)
  assert.equal((await recordOf(world, body.records[0].id)).header_title, 'push')
})

test('a record that came with only an ingest key has a title and no endpoint', async () => {
  const { key } = await anIngestKey(world)
  const { body } = await post(`${world.baseUrl}/v1/ingest/${key}/inbox`, '{}', {
    headers: { 'x-shopify-topic': 'orders/create' },
  })
  const record = await recordOf(world, body.records[0].id)
  assert.deepEqual([record.webhook_id, record.header_title], [null, 'orders/create'])
})

test('the configured header of an endpoint replaces the known headers, a configured path ignores all headers, and a credential is never a title', async () => {
  const headers = { 'x-github-event': 'push', 'x-kind': 'made', 'x-auth-token': 'canary' }
  const byHeader = await aWebhook(world, { event_title: { header: 'X-Kind' } })
  assert.equal(await titleOf(byHeader.public_url, headers), 'made')
  const byPath = await aWebhook(world, { event_title: { path: 'kind' } })
  assert.equal(await titleOf(byPath.public_url, headers), null)
  const bySecret = await aWebhook(world, { event_title: { header: 'X-Auth-Token' } })
  assert.equal(await titleOf(bySecret.public_url, headers), null)
  assert.equal(await titleOf(byHeader.public_url, { 'x-kind': 'x'.repeat(500) }), 'x'.repeat(200))
})

test('a path with a character that PostgreSQL does not read in JSON breaks no list and no stream of events', async () => {
  const { public_url } = await aWebhook(world, { dataset: 'OddPath', event_title: { path: 'a\0b' } })
  const { body } = await post(public_url, '{"a":1}')
  assert.equal((await recordOf(world, body.records[0].id)).header_title, null)
  const { status, body: found } = await world.admin('GET', 'search/events?dataset=OddPath')
  assert.deepEqual([status, found.records?.length], [200, 1], JSON.stringify(found))
})

test('a change of the title setting applies to earlier events and creates a version; an invalid setting is refused', async () => {
  const { id, public_url } = await aWebhook(world)
  const { body } = await post(public_url, '{}', { headers: { 'x-kind': 'made' } })
  const changed = await world.admin('PATCH', `webhooks/${id}`, { event_title: { header: 'X-Kind' } })
  assert.deepEqual([changed.body.webhook.event_title, changed.body.webhook.version], [{ header: 'X-Kind' }, 2])
  assert.equal((await recordOf(world, body.records[0].id)).header_title, 'made')
  for (const event_title of [{ header: 'a b' }, { path: '' }, { path: 'a', header: 'b' }, 'type'])
    assert.equal((await world.admin('PATCH', `webhooks/${id}`, { event_title })).status, 400)
})

test('the admin stream shows the endpoint and the title, and the stream of an ingest key shows the record as a destination gets it', async () => {
  const { id, public_url } = await aWebhook(world)
  const { key } = await anIngestKey(world)
  const clients = [
    await sse(`${world.baseUrl}/admin/api/stream`, { headers: { authorization: `Bearer ${world.installed.api_key}` } }),
    await sse(`${world.baseUrl}/v1/stream?key=${key}`),
  ]
  await post(public_url, '{}', { headers: { 'x-github-event': 'say "hi"' } })
  const [admin, plain] = await Promise.all(clients.map(async (client) => (await client.until(1)).data))
  assert.deepEqual([admin.webhook_id, admin.header_title], [id, 'say "hi"'])
  assert.deepEqual(Object.keys(plain), ['id', 'dataset', 'received_at', 'data'])
  for (const client of clients) client.close()
})
