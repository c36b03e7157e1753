import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

function send(url: string, body: string, key: string): Promise<Answer> {
  return post(url, body, { headers: { 'idempotency-key': key } })
}

async function storedBy({ id }: { readonly id: string }): Promise<number> {
  const webhook = decodeId('webhook', id)
  const { stored } = await database.one<{ stored: number }>(
    sql`select count(*) as stored from submissions where webhook_id = ${webhook ?? ''}`,
  )
  return stored
}

describe('an endpoint that takes the key from its events', () => {
  test('a repeat with the key and the body of an event is a duplicate; the same key with another body is a separate event', async () => {
    const webhook = await aWebhook(world, { idempotency: { header: 'X-GitHub-Delivery' } })
    const deliver = (body: string, id?: string): Promise<Answer> =>
      post(webhook.public_url, body, id === undefined ? {} : { headers: { 'x-github-delivery': id } })
    const first = await deliver('{"a":1}', 'one')
    assert.deepEqual([first.status, webhook.idempotency], [201, { header: 'X-GitHub-Delivery' }])
    assert.deepEqual((await deliver('{"a":1}', 'one')).body, { ...first.body, duplicate: true })
    const other = await deliver('{"b":2}', 'one')
    assert.deepEqual([other.status, (await deliver('{"b":2}', 'one')).body], [201, { ...other.body, duplicate: true }])
    assert.equal((await deliver('{"a":1}', 'two with spaces '.repeat(20))).status, 201)
    assert.deepEqual(
      [(await deliver('{}')).status, (await deliver('{}')).status, (await deliver('{}', '')).status],
      [201, 201, 201],
    )
    assert.equal(await storedBy(webhook), 6)
  })

  test('a key from the payload is text, or a number digit for digit; no other value is a key', async () => {
    const webhook = await aWebhook(world, { idempotency: { path: 'data.id' } })
    const deliver = async (id: string): Promise<number> =>
      (await post(webhook.public_url, `{"data":{"id":${id}}}`)).status
    for (const id of ['"evt_1"', '7', '12345678901234567890', '12345678901234567891', '1.50']) {
      assert.deepEqual([await deliver(id), await deliver(id)], [201, 200], id)
    }
    for (const none of ['null', 'true', '""', '" "', '{}', '["a"]'])
      assert.deepEqual([await deliver(none), await deliver(none)], [201, 201], none)
    assert.equal((await post(webhook.public_url, '[]')).status, 201)
  })

  test('the header Idempotency-Key applies only where the endpoint finds no key in the event', async () => {
    const webhook = await aWebhook(world, { idempotency: { path: 'id' } })
    const statuses: number[] = []
    for (const [body, key] of [
      ['{}', 'k'],
      ['{}', 'k'],
      ['{"a":1}', 'k'],
      ['{"id":1}', 'k'],
      ['{"id":1,"b":1}', 'other'],
    ] as const)
      statuses.push((await send(webhook.public_url, body, key)).status)
    assert.deepEqual(statuses, [201, 200, 422, 201, 201])
  })

  test('the same number at two endpoints of one ingest key is two events', async () => {
    const { key } = await anIngestKey(world)
    const [one, two] = await Promise.all([
      aWebhook(world, { idempotency: { path: 'id' } }),
      aWebhook(world, { idempotency: { path: 'id' } }),
    ])
    const deliver = async (slug: string): Promise<number> =>
      (await post(`${world.baseUrl}/v1/webhooks/${key}/${slug}`, '{"id":1}')).status
    assert.deepEqual(
      [await deliver(one.slug), await deliver(two.slug), await deliver(one.slug), await deliver(two.slug)],
      [201, 201, 200, 200],
    )
  })

  test('a PATCH turns the setting on and off immediately, and a change of other members preserves it', async () => {
    const { id, public_url, idempotency } = await aWebhook(world)
    const patch = async (members: object): Promise<unknown> =>
      (await world.admin('PATCH', `webhooks/${id}`, members)).body.webhook.idempotency
    assert.equal(idempotency, null)
    assert.deepEqual(await patch({ idempotency: { path: 'id' } }), { path: 'id' })
    assert.deepEqual(
      [(await post(public_url, '{"id":1}')).status, (await post(public_url, '{"id":1}')).status],
      [201, 200],
    )
    assert.deepEqual(await patch({ name: aName('renamed') }), { path: 'id' })
    assert.deepEqual((await world.admin('GET', `webhooks/${id}`)).body.webhook.idempotency, { path: 'id' })
    assert.equal(await patch({ idempotency: null }), null)
    assert.equal((await post(public_url, '{"id":1}')).status, 201)
  })

  test('an invalid setting gets 400, and the error shows a valid one', async () => {
    const { id } = await aWebhook(world)
    for (const idempotency of [
      {},
      { header: 'a b' },
      { header: '' },
      { path: '' },
      { path: 'a..b' },
      { header: 'X', path: 'id' },
      { other: 'x' },
      'id',
      true,
    ]) {
      for (const answer of [
        await world.admin('PATCH', `webhooks/${id}`, { idempotency }),
        await world.admin('POST', 'webhooks', { name: aName('w'), idempotency }),
      ]) {
        assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(idempotency))
        assert.match(answer.body.error, /idempotency/)
      }
    }
  })
})
