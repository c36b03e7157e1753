import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { Meanwhile } from '../stage/meanwhile.ts'
import { logged, MINUTE_MS } from '../stage/rejection-log.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Postroad stores one redacted sample for each cause for which an endpoint refused a request. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { LOG_LEVEL: 'silent' }, loops: [] },
)

const DAY_MS = 86_400_000
type Sample = Answer['body']

async function samplesOf(id: string, query = ''): Promise<Sample[]> {
  const { status, body } = await world.admin('GET', `webhooks/${id}/refused-samples${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.samples
}

/** Writes the samples, and returns the first one that meets this. */
async function sampled(id: string, meets: (sample: Sample) => boolean = () => true): Promise<Sample> {
  await world.run('rejections.flush')
  const found = (await samplesOf(id)).find(meets)
  assert.ok(found !== undefined, 'there is a sample')
  return found
}

test('the sample of a rejected request stores its headers without credentials and the start of its body without secrets', async () => {
  const { id, public_url } = await aWebhook(world)
  const body = `{"id":"evt_1","password":"hunter2","text":"${'x'.repeat(5_000)}`
  const headers = { authorization: 'Bearer abc', 'x-trace': `seen at ${public_url}` }
  assert.equal((await post(public_url, body, { headers })).body.reason, 'invalid_body')
  const sample = await sampled(id)
  assert.deepEqual(
    [sample.reason, sample.method, sample.source_ip, sample.body_bytes, sample.explanation],
    ['invalid_body', 'POST', '127.0.0.1', body.length, null],
  )
  assert.ok(sample.body.startsWith('{"id":"evt_1","password":"•••","text":"xxx'), sample.body.slice(0, 60))
  assert.ok(sample.body.length < 4_200)
  assert.equal(sample.headers.authorization, '•••')
  assert.ok(!sample.headers['x-trace'].includes(public_url.slice(-26)))
  assert.ok(sample.header_names.includes('x-trace'))
})

test('the sample of a request that was refused for its signature stores only the names of headers and the form of the signature', async () => {
  const { id, public_url } = await aWebhook(world, { verification: { scheme: 'code_host', secret: 'k' } })
  const digest = createHmac('sha256', 'other').update('{"canary":1}').digest('hex')
  await post(public_url, '{"canary":1}', {
    headers: { 'x-hub-signature-256': `sha256=${digest}`, 'x-canary': 'canary-value' },
  })
  const sample = await sampled(id)
  assert.deepEqual([sample.reason, sample.headers, sample.body, sample.body_bytes], ['bad_signature', null, null, null])
  assert.deepEqual(sample.signature_forms, { 'x-hub-signature-256': 'sha256=<64 hex>' })
  assert.ok(sample.header_names.includes('x-canary'))
  const [row] = await database.many<{ text: string }>(
    sql`select s::text as text from refused_samples s where reason = 'bad_signature' and s::text like '%x-canary%'`,
  )
  assert.ok(row !== undefined && !row.text.includes(digest) && !row.text.includes('canary-value'))
  assert.ok(!row.text.includes('"canary"'))
})

test('the sample of a refused signature reports how far the check got, and which other scheme its headers belong to', async () => {
  const { id, public_url } = await aWebhook(world, { verification: { scheme: 'payments_provider', secret: 'k' } })
  await post(public_url, '{}', { headers: { 'x-hub-signature-256': 'sha256=00' } })
  const { explanation } = await sampled(id)
  assert.deepEqual(
    explanation.steps.map((step: Sample) => [step.step, step.ok]),
    [
      ['secret', true],
      ['header', false],
      ['format', null],
      ['timestamp', null],
      ['digest', null],
      ['tolerance', null],
    ],
  )
  assert.match(explanation.hints.join(), /carries X-Hub-Signature-256, a header of the scheme code_host/)
  await post(public_url, '{}', {
    headers: { 'stripe-signature': `t=${Math.floor(world.clock.wall() / 1_000)},v1=${'0'.repeat(64)}` },
  })
  const wrong = await sampled(id, ({ reason }) => reason === 'bad_signature')
  assert.deepEqual(
    [wrong.explanation.failed_step, wrong.explanation.ok, wrong.explanation.has_secret],
    ['digest', false, true],
  )
  assert.deepEqual(await samplesOf(id, '?reason=missing_header').then((found) => found.map(({ reason }) => reason)), [
    'missing_header',
  ])
})

test('an endpoint with a signature stores no value of a request that was refused before the signature check', async () => {
  const { id, public_url } = await aWebhook(world, {
    verification: { scheme: 'code_host', secret: 'k' },
    ip_allowlist: ['203.0.113.7'],
  })
  await post(public_url, '{"canary":1}')
  const sample = await sampled(id)
  assert.deepEqual([sample.reason, sample.headers, sample.body], ['ip_not_allowed', null, null])
})

test('a request with a valid signature stores its values when a later check refuses it', async () => {
  const { id, public_url } = await aWebhook(world, { verification: { scheme: 'code_host', secret: 'k' } })
  const signature = `sha256=${createHmac('sha256', 'k').update('{').digest('hex')}`
  await post(public_url, '{', { headers: { 'x-hub-signature-256': signature } })
  assert.equal((await sampled(id)).body, '{')
})

test('an endpoint has one sample for each cause, the first of the latest minute', async () => {
  const { id, public_url } = await aWebhook(world)
  await post(public_url, 'first')
  await sampled(id, ({ body }) => body === 'first')
  world.clock.advance(MINUTE_MS)
  await post(public_url, 'second')
  await post(public_url, 'third')
  await sampled(id, ({ body }) => body === 'second')
  assert.equal((await samplesOf(id)).length, 1)
})

test('an endpoint whose samples are turned off stores none, and its existing samples are deleted immediately', async () => {
  const { id, public_url } = await aWebhook(world)
  await post(public_url, 'first')
  await sampled(id)
  assert.equal(
    (await world.admin('PATCH', `webhooks/${id}`, { refused_samples: false })).body.webhook.refused_samples,
    false,
  )
  assert.deepEqual(await samplesOf(id), [])
  world.clock.advance(MINUTE_MS)
  await post(public_url, 'second')
  await logged(world, 2, { webhook_id: id })
  assert.deepEqual(await samplesOf(id), [])
})

const storedOld = async (): Promise<number> =>
  (await database.one<{ count: number }>(sql`select count(*)::int as count from refused_samples where body = 'old'`))
    .count

test('a sample is shown for 7 days, and upkeep then deletes it', async () => {
  const { id, public_url } = await aWebhook(world)
  await post(public_url, 'old')
  const { at } = await sampled(id)
  world.clock.set(Date.parse(at) + 7 * DAY_MS)
  await runUpkeep(world.app.deps)
  assert.deepEqual([(await samplesOf(id)).length, await storedOld()], [1, 1])
  world.clock.advance(1_000)
  assert.deepEqual([(await samplesOf(id)).length, await storedOld()], [0, 1])
  await runUpkeep(world.app.deps)
  assert.equal(await storedOld(), 0)
})

test('the samples are deleted with their endpoint', async () => {
  const { id, public_url } = await aWebhook(world)
  await post(public_url, 'gone')
  await sampled(id)
  await world.admin('DELETE', `webhooks/${id}`)
  assert.equal((await world.admin('GET', `webhooks/${id}/refused-samples`)).status, 404)
  const { count } = await database.one<{ count: number }>(
    sql`select count(*)::int as count from refused_samples where body = 'gone'`,
  )
  assert.equal(count, 0)
})

test('a suspended workspace stores no sample, and neither does an ingest key without an endpoint', async () => {
  const { id, public_url } = await aWebhook(world)
  await new Meanwhile(world, database).suspended(() => post(public_url, 'suspended'))
  const { key } = await anIngestKey(world)
  await post(`${world.baseUrl}/v1/ingest/${key}/inbox`, 'keyed')
  await logged(world, 1, { webhook_id: id })
  const { count } = await database.one<{ count: number }>(
    sql`select count(*)::int as count from refused_samples where reason = 'workspace_suspended' or body = 'keyed'`,
  )
  assert.deepEqual([count, await samplesOf(id)], [0, []])
})
