import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { aName, anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import { aNewMinute, logged, MINUTE_MS, SIGNED, signedAt } from '../stage/rejection-log.ts'
import { sse } from '../stage/stream-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Other places that report rejected requests: the audit log, and the admin stream. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { INGEST_BODY_BYTES: '1000', LOG_LEVEL: 'silent' }, loops: ['rejections.flush', 'rejections.audit'] },
)
beforeEach(() => aNewMinute(world))

type AuditRow = { readonly actor: string; readonly target: string; readonly ip: string; readonly details: string }

async function audited(webhookId: string): Promise<readonly AuditRow[]> {
  return database.many<AuditRow>(sql`
    select actor, target, ip, details from audit_rows where action = 'ingest_signature_rejected' and target = ${webhookId} order by id
  `)
}
const countsOf = (rows: readonly AuditRow[]): number[] => rows.map(({ details }) => JSON.parse(details).count)

/** The audit rows once the loops have written all that is due. */
async function auditedNow(webhookId: string): Promise<readonly AuditRow[]> {
  await world.idle()
  return audited(webhookId)
}

/** Lets seconds pass, and the loops do in each what the clock lets them do. */
async function secondsPass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    world.clock.advance(1_000)
    await world.quiet()
  }
}

/** Sends five refusals. Each has its audit row within 5 s. */
async function fiveReportedSoon({ id, public_url }: { id: string; public_url: string }): Promise<void> {
  for (let refusal = 1; refusal <= 5; refusal += 1) {
    await post(public_url, '{}')
    await secondsPass(5)
    assert.equal((await audited(id)).length, refusal)
  }
}

describe('audit rows ingest_signature_rejected', () => {
  test('an audit row reports a refused signature within seconds, with its endpoint, address, cause and count', async () => {
    const { id, public_url } = await aWebhook(world, SIGNED)
    const minute = new Date(world.clock.now()).toISOString()
    await post(public_url, '{}')
    await post(public_url, '{}', { headers: { 'stripe-signature': signedAt(world, 301) } })
    const rows = await auditedNow(id)
    assert.equal(rows.length, 1)
    assert.deepEqual([rows[0]?.actor, rows[0]?.target, rows[0]?.ip], ['system', id, '127.0.0.1'])
    assert.deepEqual(JSON.parse(rows[0]?.details ?? ''), {
      minute,
      count: 2,
      reasons: { missing_header: 1, stale_timestamp: 1 },
    })
  })

  test('an audit row follows each of the first five refusals of a minute within 5 s', async () => {
    const { id, public_url } = await aWebhook(world, SIGNED)
    await fiveReportedSoon({ id, public_url })
    assert.deepEqual(countsOf(await audited(id)), [1, 1, 1, 1, 1])
  })

  test('a credential gets at most six audit rows a minute, and they count every refusal once', async () => {
    const { id, public_url } = await aWebhook(world, SIGNED)
    await fiveReportedSoon({ id, public_url })
    for (let sent = 0; sent < 5; sent += 1) {
      await post(public_url, '{}', sent % 2 === 0 ? {} : { headers: { 'stripe-signature': 't=1,v1=00' } })
      world.clock.advance(1_000)
    }
    await logged(world, 10, { webhook_id: id })
    assert.deepEqual(countsOf(await audited(id)), [1, 1, 1, 1, 1])
    world.clock.advance(2 * MINUTE_MS)
    assert.deepEqual(countsOf(await auditedNow(id)), [1, 1, 1, 1, 1, 5])
    world.clock.advance(10 * MINUTE_MS)
    assert.equal((await auditedNow(id)).length, 6)
  })

  test('one of several processes writes the audit rows', async () => {
    const { id, public_url } = await aWebhook(world, SIGNED)
    const other = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' }, now: world.clock.now() })
    for (const base of [world.baseUrl, other.baseUrl]) await post(base + new URL(public_url).pathname, '{}')
    for (let turn = 0; turn < 20; turn += 1) {
      for (const { clock } of [world, other]) clock.advance(2_000)
      await world.quiet()
    }
    await other.stop()
    world.clock.advance(3 * MINUTE_MS)
    const rows = await auditedNow(id)
    assert.equal(
      countsOf(rows).reduce((sum, count) => sum + count, 0),
      2,
    )
    assert.ok(rows.length <= 2)
  })

  test('audit rows name the ingest key of the request, and cover only refused signatures', async () => {
    const webhook = await aWebhook(world, SIGNED)
    const { id, key } = await anIngestKey(world)
    await post(`${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`, '{}')
    const unsigned = await aWebhook(world)
    await post(unsigned.public_url, '')
    const rows = await auditedNow(webhook.id)
    assert.equal(rows.length, 1)
    assert.equal(JSON.parse(rows[0]?.details ?? '').ingest_key_id, id)
    await logged(world, 1, { webhook_id: unsigned.id })
    assert.equal((await audited(unsigned.id)).length, 0)
  })
})

test('a refused signature that an ingest key requires of its own URLs is audited too, and its row names the key', async () => {
  const { id, key } = await anIngestKey(world, { require_signature: true })
  const minute = new Date(world.clock.now()).toISOString()
  for (const [path, headers] of [
    [key, {}],
    [`${key}/d`, { 'x-service-signature': 'nonsense' }],
  ] as const) {
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${path}`, '{}', { headers })).status, 401)
  }
  await world.idle()
  const rows = await database.many<AuditRow>(sql`
    select actor, target, ip, details from audit_rows where action = 'ingest_signature_rejected' and details::jsonb ->> 'ingest_key_id' = ${id}
  `)
  // The row names no endpoint, because the URL names none.
  assert.deepEqual(
    rows.map(({ actor, target, ip }) => [actor, target, ip]),
    [['system', null, '127.0.0.1']],
  )
  assert.deepEqual(JSON.parse(rows[0]?.details ?? ''), {
    minute,
    count: 2,
    reasons: { bad_signature: 1, missing_header: 1 },
    ingest_key_id: id,
  })
})

const admin = (path = 'stream') =>
  sse(`${world.baseUrl}/admin/api/${path}`, { headers: { authorization: `Bearer ${world.installed.api_key}` } })

describe('the admin stream', () => {
  test('the admin stream shows every refusal from the first one on, as the log has it, also in the project; no other stream shows refusals', async () => {
    const { key } = await anIngestKey(world)
    const plain = await sse(`${world.baseUrl}/v1/stream?key=${key}`)
    const clients = [await admin(), await admin(`projects/${world.installed.project.id}/stream`)]
    const elsewhere = (await world.admin('POST', 'projects', { name: aName('elsewhere') })).body.project.id
    const other = await admin(`projects/${elsewhere}/stream`)
    const filtered = await admin('stream?dataset=orders')
    const { id, public_url } = await aWebhook(world)
    await post(public_url, '')
    const rows = await logged(world, 1, { webhook_id: id })
    await secondsPass(2)
    for (const client of clients) {
      const seen = await client.first((event) => event.type === 'rejection' && event.data.webhook_id === id)
      assert.deepEqual(seen.data, rows[0])
    }
    for (const client of [plain, other, filtered])
      assert.deepEqual(
        client.events.filter((event) => event.type === 'rejection'),
        [],
      )
    for (const client of [...clients, plain, other, filtered]) client.close()
  })

  test('the admin stream shows a flood as one frame with its count, and the audit log creates no frame', async () => {
    const client = await admin()
    const { id, public_url } = await aWebhook(world, SIGNED)
    await Promise.all(Array.from({ length: 200 }, () => post(public_url, '{}')))
    await logged(world, 200, { webhook_id: id })
    const frames = () => client.events.filter((event) => event.type === 'rejection' && event.data.webhook_id === id)
    await secondsPass(2)
    await client.first((event) => event.data.webhook_id === id && event.data.count === 200)
    const seen = frames().length
    assert.ok(seen <= 3, `${seen} frames`)
    await secondsPass(20)
    assert.equal(frames().length, seen)
    client.close()
  })
})
