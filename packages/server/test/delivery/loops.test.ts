import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aTestSink, onDeliveryStage } from '../stage/delivery-routes.ts'
import { aDestination, anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { logged } from '../stage/rejection-log.ts'

/** Events that come back to an endpoint that they have already passed. */

let world: World
let database: Database

onDeliveryStage((made) => {
  ;({ world, database } = made)
})

const LINK = /^[A-Za-z0-9_-]{16}$/
const linksOf = (header: string | readonly string[] | undefined): readonly string[] => String(header).split(', ')
const link = (n: number): string => String(n).padStart(16, 'x')
const chain = (links: number): Record<string, string> => ({
  'Service-Chain': Array.from({ length: links }, (_unused, n) => link(n)).join(','),
})

/** Destinations that send the records of a dataset to these addresses. */
async function forward(dataset: string, ...urls: readonly string[]): Promise<void> {
  for (const url of urls) await aDestination(world, { url, datasets: [dataset] })
}

/** The receiver of each delivery of the event is a Postroad, and has refused it. */
async function assertRefused(recordId: string, count: number): Promise<void> {
  await world.idle()
  const { body } = await world.admin('GET', `deliveries?record_id=${recordId}`)
  const statuses = body.deliveries.map(({ last_status }: Answer['body']) => last_status)
  assert.deepEqual(statuses, Array<number>(count).fill(409))
}

async function countOfSubmissions(column: 'webhook_id' | 'ingest_key_id', id: string | undefined): Promise<number> {
  const rows = await database.many<{ id: string | null }>(sql`
    select ${column === 'webhook_id' ? sql`webhook_id` : sql`ingest_key_id`} as id from submissions
  `)
  return rows.filter((row) => row.id === id).length
}

test('an endpoint refuses its own event with 409 loop_detected, however many destinations lead back to it', async () => {
  const webhook = await aWebhook(world, { dataset: 'circle' })
  await forward('circle', webhook.public_url, webhook.public_url, webhook.public_url)
  const accepted = await post(webhook.public_url, '{"n":1}')
  assert.equal(accepted.status, 201)
  await assertRefused(accepted.body.records[0].id, 3)
  assert.equal(await countOfSubmissions('webhook_id', decodeId('webhook', webhook.id)), 1)
  const [row] = await logged(world, 3, { webhook_id: webhook.id })
  assert.deepEqual([row.reason, row.status, row.count], ['loop_detected', 409, 3])
})

test('an event that comes back through another endpoint is refused by the endpoint that it has already passed', async () => {
  const [first, second] = [await aWebhook(world, { dataset: 'there' }), await aWebhook(world, { dataset: 'back' })]
  await forward('there', second.public_url)
  await forward('back', first.public_url)
  assert.equal((await post(first.public_url, '{}')).status, 201)
  await logged(world, 1, { webhook_id: first.id })
  assert.equal(await countOfSubmissions('webhook_id', decodeId('webhook', first.id)), 1)
  assert.equal(await countOfSubmissions('webhook_id', decodeId('webhook', second.id)), 1)
})

test('an ingest key refuses its own event', async () => {
  const { id, key } = await anIngestKey(world)
  await forward('keyed', `${world.baseUrl}/v1/ingest/${key}/keyed`)
  const accepted = await post(`${world.baseUrl}/v1/ingest/${key}/keyed`, '{}')
  assert.equal(accepted.status, 201)
  await assertRefused(accepted.body.records[0].id, 1)
  assert.equal(await countOfSubmissions('ingest_key_id', decodeId('ingestKey', id)), 1)
})

test('the URL of an endpoint and its URL with an ingest key are the same endpoint', async () => {
  const { key } = await anIngestKey(world)
  const webhook = await aWebhook(world, { dataset: 'two_ways' })
  await forward('two_ways', `${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`)
  const accepted = await post(webhook.public_url, '{}')
  await assertRefused(accepted.body.records[0].id, 1)
})

test('Service-Chain names each service by an opaque digest, and forwards the digests of other services', async (t) => {
  const sink = await aTestSink(t)
  const webhook = await aWebhook(world, { dataset: 'passed_on' })
  await forward('passed_on', sink.url)
  const others = ['AAAAAAAAAAAAAAAA', 'b_b-bbbbbbbbbbbb']
  await post(webhook.public_url, '{}')
  await post(webhook.public_url, '{}', { headers: { 'Service-Hops': '2', 'Service-Chain': others.join(', ') } })
  const [begun, joined] = await sink.until(2)
  const [own = ''] = linksOf(begun?.headers['service-chain'])
  assert.match(own, LINK)
  assert.deepEqual(linksOf(begun?.headers['service-chain']), [own])
  assert.deepEqual(linksOf(joined?.headers['service-chain']), [...others, own])
  assert.equal(joined?.headers['service-hops'], '3')
})

test('an invalid digest in Service-Chain counts for nothing, and a chain of five is a loop', async (t) => {
  const sink = await aTestSink(t)
  const webhook = await aWebhook(world, { dataset: 'odd_chains' })
  await forward('odd_chains', sink.url)
  for (const sent of ['', ',', 'short', 'x'.repeat(17), 'x'.repeat(30_000), `${link(1)} ${link(2)}`, '<script>'])
    assert.equal((await post(webhook.public_url, '{}', { headers: { 'Service-Chain': sent } })).status, 201, sent)
  for (const { headers } of await sink.until(7)) assert.equal(linksOf(headers['service-chain']).length, 1)
  assert.equal((await post(webhook.public_url, '{}', { headers: chain(4) })).status, 201)
  const refused = await post(webhook.public_url, '{}', { headers: chain(5) })
  assert.deepEqual([refused.status, refused.body.reason], [409, 'loop_detected'])
})

test('a digest of one endpoint is useless at another, and no destination can set the header', async (t) => {
  const sink = await aTestSink(t)
  const [seen, other] = [await aWebhook(world, { dataset: 'seen' }), await aWebhook(world, { dataset: 'other' })]
  await forward('seen', sink.url)
  await post(seen.public_url, '{}')
  const [received] = await sink.until(1)
  const headers = { 'Service-Chain': String(received?.headers['service-chain']) }
  assert.equal((await post(other.public_url, '{}', { headers })).status, 201)
  assert.equal((await post(seen.public_url, '{}', { headers })).status, 409)
  const custom = { name: 'forged', url: sink.url, headers: { 'Service-Chain': 'x' } }
  assert.equal((await world.admin('POST', 'destinations', custom)).status, 400)
})
