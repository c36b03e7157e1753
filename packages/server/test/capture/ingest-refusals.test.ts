import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { RESERVED_ROOTS } from '@postroad/contract'
import { aName, anIngestKey, aRule, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Requests that ingest refuses: names, unknown URLs, disabled endpoints, signatures, size (contract part 1, ingest
 * rules).
 */
let world: World
let key: string
let webhook: Answer['body']

onWorldStage(
  async (made) => {
    ;({ world } = made)
    key = (await anIngestKey(world)).key
    webhook = await aWebhook(world, { slug: 'orders', dataset: 'orders' })
    await aRule(world, { name: 'everything', dataset: 'ruled' })
  },
  { loops: [] },
)

const urlsNaming = (dataset: string): readonly string[] => [
  `${webhook.public_url}/${dataset}`,
  `${world.baseUrl}/v1/ingest/${key}/${dataset}`,
]

test('a dataset name is a letter, then up to 62 letters, digits or underscores; other names get 400 invalid_dataset', async () => {
  for (const name of ['a', 'Z9_', `a${'b'.repeat(62)}`]) {
    for (const url of urlsNaming(name)) assert.equal((await post(url, '{}')).status, 201, name)
  }
  for (const name of [
    '1a',
    '_a',
    'a-b',
    'a.b',
    `a${'b'.repeat(63)}`,
    '%C3%A9',
    'a%00',
    'a%20b',
    'a%2Fb',
    '..a',
    "a'--",
  ]) {
    for (const url of urlsNaming(name)) {
      const answer = await post(url, '{}')
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_dataset'], name)
    }
  }
})

test('an unknown endpoint or ingest key gets 404, also with a right or wrong workspace and project', async () => {
  const path = new URL(webhook.public_url).pathname
  const [, workspace, project, slug] = path.split('/')
  const unknown: readonly (readonly [string, string])[] = [
    [`/${workspace}/${project}/${slug}x`, 'endpoint_not_found'],
    [`/${workspace}/other/${slug}`, 'endpoint_not_found'],
    [`/other/${project}/${slug}`, 'endpoint_not_found'],
    [`/${workspace}/${project}/orders`, 'endpoint_not_found'],
    [`/${workspace}/${project}/${key}`, 'endpoint_not_found'],
    [`/v1/ingest/${key}x`, 'ingest_key_not_found'],
    [`/v1/ingest/${slug}`, 'ingest_key_not_found'],
    [`/v1/ingest/${slug}/orders`, 'ingest_key_not_found'],
    [`/v1/ingest/${world.installed.api_key}/orders`, 'ingest_key_not_found'],
    [`/v1/webhooks/${key}x/orders`, 'ingest_key_not_found'],
    [`/v1/webhooks/${key}/unknown`, 'endpoint_not_found'],
    [`/v1/webhooks/${key}/${slug}`, 'endpoint_not_found'],
  ]
  for (const [at, reason] of unknown) {
    const answer = await post(world.baseUrl + at, '{}')
    assert.deepEqual([answer.status, answer.body.reason], [404, reason], at)
  }
})

/** The answers that refuse a POST and a handshake below a root. */
async function reasonsAt(root: string): Promise<readonly string[]> {
  const url = `${world.baseUrl}/${root}/default/anything`
  const asked = await fetch(`${url}?hub.mode=subscribe&hub.verify_token=t&hub.challenge=yes`)
  const text = await asked.text()
  // A path without a route gets the page of the console.
  const said = text.startsWith('<') ? {} : JSON.parse(text)
  const answers = [await post(url, '{}'), { status: asked.status, body: said }]
  for (const { status } of answers) assert.ok(status >= 400 && status < 500, root)
  return answers.map(({ body }) => body.reason)
}

test('a reserved root never reaches ingest', async () => {
  assert.deepEqual(await reasonsAt('unreserved'), ['endpoint_not_found', 'endpoint_not_found'])
  for (const root of [...RESERVED_ROOTS, '%61dmin'])
    assert.ok(!(await reasonsAt(root)).includes('endpoint_not_found'), root)
})

test('a disabled endpoint answers 503, not 404, on its URL and by ingest key', async () => {
  const slug = aName('off').replace(' ', '-')
  const off = await aWebhook(world, { slug, enabled: false })
  for (const url of [off.public_url, `${off.public_url}/elsewhere`, `${world.baseUrl}/v1/webhooks/${key}/${slug}`]) {
    const answer = await post(url, '{}')
    assert.deepEqual([answer.status, answer.body.reason], [503, 'endpoint_disabled'])
  }
})

test('the signature check applies on the URL and on /v1/webhooks/{ingest_key}/{slug}', async () => {
  const slug = aName('signed').replace(' ', '-')
  const signed = await aWebhook(world, { slug, verification: { scheme: 'hmac', secret: 'k' } })
  const right = createHmac('sha256', 'k').update('{}').digest('hex')
  // The URL with a dataset after it is the same URL.
  for (const url of [
    signed.public_url,
    `${signed.public_url}/elsewhere`,
    `${world.baseUrl}/v1/webhooks/${key}/${slug}`,
  ]) {
    const answer = await post(url, '{}')
    assert.deepEqual([answer.status, answer.body.reason, answer.body.scheme], [401, 'missing_header', 'hmac'])
    const forged = await post(url, '{ }', { headers: { 'x-signature': right } })
    assert.deepEqual([forged.status, forged.body.reason], [401, 'bad_signature'])
    assert.equal((await post(url, '{}', { headers: { 'x-signature': right } })).status, 201)
  }
})

test('an endpoint that was created with without_secret answers 401 bad_signature until a secret is set', async () => {
  const made = await aWebhook(world, { verification: { scheme: 'hmac', prefix: 'v=', without_secret: true } })
  assert.equal(made.verification.has_secret, false)
  const headers = { 'x-signature': 'v=0e0e' }
  const unset = await post(made.public_url, '{}', { headers })
  assert.deepEqual([unset.status, unset.body.reason], [401, 'bad_signature'])
  const bare = await post(made.public_url, '{}')
  assert.deepEqual([bare.status, bare.body.reason], [401, 'bad_signature'])
  await world.admin('PATCH', `webhooks/${made.id}`, { verification: { scheme: 'hmac', secret: 'k' } })
  const signature = `v=${createHmac('sha256', 'k').update('{}').digest('hex')}`
  const set = await post(made.public_url, '{}', { headers: { 'x-signature': signature } })
  assert.equal(set.status, 201)
})

test('a rejected request stores nothing', async () => {
  const signed = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
  await post(signed.public_url, '{}', { headers: { 'x-signature': 'nonsense' } })
  await post(`${signed.public_url}/not-a-name`, '{}')
  const { body } = await world.admin('GET', `submissions?webhook_id=${signed.id}`)
  assert.deepEqual(body.submissions, [])
})

const aBodyOf = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`

test('a body can have as many bytes as the limit allows, and not one more', async () => {
  assert.equal((await post(world.endpoint, aBodyOf(1_048_576))).status, 201)
  const answer = await post(world.endpoint, aBodyOf(1_048_577))
  assert.deepEqual([answer.status, answer.body.reason], [413, 'payload_too_large'])
})
