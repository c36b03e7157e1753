import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Repeats are counted, shown with their event, and found by search. */
let world: World
onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const HOUR_MS = 3_600_000
const HEADER = 'X-WC-Webhook-Delivery-ID'

async function countsOf(webhook: Answer['body']): Promise<Answer['body']> {
  await world.run('repeats.flush')
  const { received, duplicates, key_reused } = (await world.admin('GET', `webhooks/${webhook.id}/activity`)).body
    .summary
  return { received, duplicates, key_reused }
}

async function repeatsOf(submission: string): Promise<Answer['body']> {
  const { duplicates, key_reused } = (await world.admin('GET', `submissions/${submission}`)).body.submission
  return { duplicates, key_reused }
}

async function found(room: 'events' | 'submissions', query: Record<string, string>): Promise<readonly string[]> {
  const answer = await world.admin('GET', `search/${room}?${new URLSearchParams(query).toString()}`)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return room === 'events'
    ? answer.body.records.map(({ submission_id: id }: Answer['body']) => id)
    : answer.body.submissions.map(({ id }: Answer['body']) => id)
}

const order = async (webhook: Answer['body'], id: number, key = 'same'): Promise<Answer['body']> => {
  const answer = await post(webhook.public_url, JSON.stringify({ id }), { headers: { [HEADER]: key } })
  assert.equal(answer.status, answer.body.duplicate === true ? 200 : 201, JSON.stringify(answer.body))
  return answer.body
}

test('two orders of one second with one id of WooCommerce are two events, and the activity counts the reused key and the repeats', async () => {
  const webhook = await aWebhook(world, { dataset: 'woo', idempotency: { header: HEADER } })
  const [first, second] = [await order(webhook, 1_001), await order(webhook, 1_002)]
  assert.notEqual(first.id, second.id)
  assert.deepEqual(await countsOf(webhook), { received: 2, duplicates: 0, key_reused: 1 })
  const repeats = [await order(webhook, 1_001), await order(webhook, 1_001), await order(webhook, 1_002)]
  assert.deepEqual(
    repeats.map(({ id }) => id),
    [first.id, first.id, second.id],
  )
  assert.deepEqual(await countsOf(webhook), { received: 2, duplicates: 3, key_reused: 1 })
  assert.deepEqual(await repeatsOf(first.id), { duplicates: 2, key_reused: false })
  assert.deepEqual(await repeatsOf(second.id), { duplicates: 1, key_reused: true })
  await order(webhook, 1_001)
  assert.deepEqual(await countsOf(webhook), { received: 2, duplicates: 4, key_reused: 1 })
})

test('ten orders of one second with one id are ten events, and nine reuse its key', async () => {
  const webhook = await aWebhook(world, { dataset: 'woo_ten', idempotency: { header: HEADER } })
  const stored = await Promise.all(Array.from({ length: 10 }, (_, id) => order(webhook, id)))
  assert.equal(new Set(stored.map(({ id }) => id)).size, 10)
  assert.deepEqual(await countsOf(webhook), { received: 10, duplicates: 0, key_reused: 9 })
})

test('repeats with Idempotency-Key are counted, and other keys and other endpoints are not repeats', async () => {
  const [one, other] = [
    await aWebhook(world, { dataset: 'keys_one', idempotency: { path: 'event' } }),
    await aWebhook(world, { dataset: 'keys_other' }),
  ]
  await post(one.public_url, '{"event":"a","n":1}')
  await post(one.public_url, '{"event":"b","n":1}')
  const headers = { 'Idempotency-Key': 'a' }
  await Promise.all([1, 2, 3].map(async () => post(other.public_url, '{"event":"a"}', { headers })))
  assert.deepEqual(await countsOf(one), { received: 2, duplicates: 0, key_reused: 0 })
  assert.deepEqual(await countsOf(other), { received: 1, duplicates: 2, key_reused: 0 })
  const { key } = await anIngestKey(world)
  const url = `${world.baseUrl}/v1/ingest/${key}/keyed_by_key`
  const first = await post(url, '{}', { headers })
  assert.equal((await post(url, '{}', { headers })).body.id, first.body.id)
  await world.run('repeats.flush')
  assert.deepEqual(await repeatsOf(first.body.id), { duplicates: 1, key_reused: false })
})

test('the summary counts the repeats of the last 24 hours, also those of older events', async () => {
  const webhook = await aWebhook(world, { dataset: 'old', idempotency: { header: HEADER } })
  await order(webhook, 1)
  await order(webhook, 2)
  world.clock.advance(25 * HOUR_MS)
  assert.deepEqual(await countsOf(webhook), { received: 0, duplicates: 0, key_reused: 0 })
  await order(webhook, 1)
  await order(webhook, 3)
  assert.deepEqual(await countsOf(webhook), { received: 1, duplicates: 1, key_reused: 1 })
})

test('search finds events that were repeated, and events whose key was used before, filed or not', async () => {
  const criteria = [{ path: 'id', op: 'gt', value: 10 }]
  const webhook = await aWebhook(world, { dataset: 'found', idempotency: { header: HEADER }, criteria })
  const [filed, reused, unfiled] = [await order(webhook, 11), await order(webhook, 12), await order(webhook, 1, 'own')]
  await order(webhook, 11)
  await order(webhook, 1, 'own')
  await world.run('repeats.flush')
  const of = { webhook: webhook.id }
  assert.deepEqual(await found('events', { ...of, repeated: 'duplicate' }), [filed.id])
  assert.deepEqual(await found('events', { ...of, repeated: 'key_reused' }), [reused.id])
  assert.deepEqual(await found('submissions', { ...of, repeated: 'duplicate' }), [unfiled.id])
  assert.deepEqual(await found('submissions', { ...of, repeated: 'key_reused' }), [])
})
