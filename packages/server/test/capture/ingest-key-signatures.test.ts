import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { afterEach, describe, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { anIngestKey, aWebhook, post, submissionOf } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import type { StreamClient } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** An ingest key that requires signatures. Two nodes share one database. */
const HOUR_MS = 3_600_000
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

function signed(secret: string, at = world.clock.wall()): Record<string, string> {
  const seconds = Math.floor(at / 1_000)
  return {
    'x-service-signature': `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.{"a":1}`).digest('hex')}`,
  }
}

describe('X-Service-Signature', () => {
  test('a key that requires a signature accepts requests signed with its secret, and the trace records it', async () => {
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const accepted = await send(`ingest/${key}/d`, signed(secret))
    assert.equal(accepted.status, 201)
    assert.equal((await submissionOf(world, accepted.body.id)).decision.verified_scheme, 'service_signature')
    assert.equal(
      (await world.admin('GET', `search/correlate/${accepted.body.id}`)).body.submission.verified_scheme,
      'service_signature',
    )
  })

  test('a request with no signature, with the secret of another key or with an old one gets 401 with reason and scheme, and stores nothing', async () => {
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    const had = await stored()
    const cases: [Record<string, string>, string][] = [
      [{}, 'missing_header'],
      [signed('another'), 'bad_signature'],
      [{ 'x-service-signature': 'nonsense' }, 'bad_signature'],
      [signed(secret, world.clock.wall() - 301_000), 'stale_timestamp'],
      [signed(secret, world.clock.wall() + 301_000), 'stale_timestamp'],
      [{ 'service-signature': signed(secret)['x-service-signature'] ?? '' }, 'missing_header'],
    ]
    for (const [headers, reason] of cases) {
      const { status, body } = await send(`ingest/${key}`, headers)
      assert.deepEqual([status, body.reason, body.scheme], [401, reason, 'service_signature'])
    }
    assert.equal(await stored(), had)
  })

  test('a signature can be up to 300 seconds old or ahead', async () => {
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    for (const off of [-300_000, 300_000])
      assert.equal(await statusOf(`ingest/${key}/d`, signed(secret, world.clock.wall() + off)), '201')
  })

  test('at an endpoint that verifies too, both signatures must be valid; the trace names the scheme of the endpoint', async () => {
    await aWebhook(world, { slug: 'doubly', verification: { scheme: 'hmac', secret: 'k' } })
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    const own = { 'x-signature': createHmac('sha256', 'k').update('{"a":1}').digest('hex') }
    assert.equal(await statusOf(`webhooks/${key}/doubly`, own), '401 missing_header')
    assert.equal(await statusOf(`webhooks/${key}/doubly`, signed(secret)), '401 missing_header')
    const accepted = await send(`webhooks/${key}/doubly`, { ...own, ...signed(secret) })
    assert.equal((await submissionOf(world, accepted.body.id)).decision.verified_scheme, 'hmac')
  })

  test('a key that requires no signature checks none', async () => {
    const { key } = await anIngestKey(world)
    const accepted = await send(`ingest/${key}/d`, signed('anything'))
    assert.deepEqual(
      [accepted.status, (await submissionOf(world, accepted.body.id)).decision.verified_scheme],
      [201, undefined],
    )
  })

  test('a key that starts to require signatures gets a secret, shown once; a key that stops requiring them loses it', async () => {
    const { id, key } = await anIngestKey(world)
    const on = await change(id, { require_signature: true })
    assert.deepEqual([on.body.ingest_key.require_signature, on.headers.get('cache-control')], [true, 'no-store'])
    const again = await change(id, { require_signature: true, name: 'again' })
    assert.equal(again.body.signing_secret, undefined, 'one secret is stored')
    assert.deepEqual(
      [await statusOf(`ingest/${key}/d`), await statusOf(`ingest/${key}/d`, signed(on.body.signing_secret))],
      ['401 missing_header', '201'],
    )
    await change(id, { require_signature: false })
    assert.equal(await statusOf(`ingest/${key}/d`), '201')
    const secondTime = await change(id, { require_signature: true })
    assert.notEqual(secondTime.body.signing_secret, on.body.signing_secret)
    assert.equal(await statusOf(`ingest/${key}/d`, signed(on.body.signing_secret)), '401 bad_signature')
  })

  test('the secret of a key can be rotated with an overlap, which another rotation ends only when the caller allows it; the audit row contains no secret', async () => {
    const { id, key, secret } = await anIngestKey(world, { require_signature: true })
    const rotate = (body: object): Promise<Answer> =>
      world.admin('POST', `ingest-keys/${id}/rotate-signing-secret`, body)
    const { body } = await rotate({ overlap_hours: 2 })
    const end = new Date(world.clock.now() + 2 * HOUR_MS).toISOString()
    assert.equal(body.ingest_key.previous_signing_secret_expires_at, end)
    const statuses = (...secrets: string[]): Promise<string[]> =>
      Promise.all(secrets.map((one) => statusOf(`ingest/${key}/d`, signed(one))))
    assert.deepEqual(await statuses(secret, body.signing_secret), ['201', '201'])
    const { row } = await database.one<{ row: string }>(
      sql`select a::text as row from audit_rows a where action = 'rotate_signing_secret' order by id desc limit 1`,
    )
    assert.ok(row.includes(id) && row.includes(end) && !row.includes(body.signing_secret.slice(6)))
    const [chosen, last] = ['chosen-by-a-person', 'the-last-of-them-all']
    const early = await rotate({ secret: chosen, overlap_hours: 1 })
    assert.deepEqual([early.status, early.body.reason], [409, 'overlap_running'])
    assert.ok(early.body.error.includes(end), 'the refusal names the time at which the overlap ends')
    assert.deepEqual(await statuses(secret, body.signing_secret, chosen), ['201', '201', '401 bad_signature'])
    const short = await rotate({ secret: 'fifteen-letters', overlap_hours: 1 })
    assert.deepEqual([short.status, short.body.reason], [400, 'invalid_request'])
    assert.match(short.body.error, /at least 16 characters/)
    assert.equal((await rotate({ secret: chosen, overlap_hours: 1, end_overlap: true })).body.signing_secret, undefined)
    assert.deepEqual(await statuses(secret, body.signing_secret, chosen), ['401 bad_signature', '201', '201'])
    world.clock.advance(HOUR_MS - 1)
    assert.deepEqual(await statuses(body.signing_secret, chosen), ['201', '201'])
    world.clock.advance(1)
    assert.deepEqual(await statuses(body.signing_secret, chosen), ['401 bad_signature', '201'])
    assert.equal(
      (await world.admin('GET', `ingest-keys/${id}`)).body.ingest_key.previous_signing_secret_expires_at,
      null,
    )
    await rotate({ secret: last, overlap_hours: 0 })
    assert.deepEqual(await statuses(chosen, last), ['401 bad_signature', '201'])
  })

  test('a key that requires no signature has no secret to rotate', async () => {
    const { id } = await anIngestKey(world)
    const { status, body } = await world.admin('POST', `ingest-keys/${id}/rotate-signing-secret`, {})
    assert.deepEqual(
      [status, body.error],
      [
        400,
        'This key does not require signatures, so it has no secret to replace. Set "require_signature" to true to get one.',
      ],
    )
  })
})
