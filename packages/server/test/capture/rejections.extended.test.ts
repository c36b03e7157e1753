import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { REASONS, REMEDIES, type RejectionReason } from '@postroad/contract'
import { type Database } from '../../src/platform/db.ts'
import { anIngestKey, aWebhook, post, Wire } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { Meanwhile } from '../stage/meanwhile.ts'
import { aNewMinute, listed, logged, MINUTE_MS, SIGNED, signedAt, type Row } from '../stage/rejection-log.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 4, activity rules: the log of requests that were refused after the endpoint or ingest key resolved. */
let world: World
let database: Database
let meanwhile: Meanwhile

onWorldStage(
  (made) => {
    ;({ world, database } = made)
    meanwhile = new Meanwhile(world, database)
  },
  { env: { INGEST_BODY_BYTES: '1000', LOG_LEVEL: 'silent' }, loops: [] },
)
beforeEach(() => aNewMinute(world))
/** Each mapping makes 60 nested lists, each with 199 nulls and the next list: a small event becomes 12 MB. */
const LISTS_OF_HOLES = Array.from({ length: 200 }, (_, index) => ({
  target: `t${index}${'.199'.repeat(60)}`,
  value: 1,
}))

function reasonsOf(rows: readonly Row[]): string[] {
  return rows.map(({ reason }): string => reason).toSorted()
}

async function get(url: string): Promise<Answer> {
  const response = await fetch(url)
  return { status: response.status, headers: response.headers, body: await response.json().catch(() => undefined) }
}

/**
 * One rejected request for each reason, each at a separate endpoint; `key` sends it with an ingest key that has these
 * members.
 */
type Producer = {
  readonly members?: Readonly<Record<string, unknown>>
  readonly key?: Readonly<Record<string, unknown>>
  readonly method?: string
  readonly send: (url: string) => Promise<Answer>
}
const PRODUCED: Readonly<Record<RejectionReason, Producer>> = {
  endpoint_disabled: { members: { enabled: false }, send: (url) => post(url, '{}') },
  ip_not_allowed: { members: { ip_allowlist: ['203.0.113.7'] }, send: (url) => post(url, '{}') },
  workspace_suspended: { send: (url) => meanwhile.suspended(() => post(url, '{}')) },
  workspace_closed: { send: (url) => meanwhile.closed(() => post(url, '{}')) },
  burst_limited: {
    send: (url) => meanwhile.afterABurst(url, () => post(url, '{}')),
  },
  work_limited: { send: (url) => meanwhile.owingWork(url, () => post(url, '{}')) },
  cors_origin_not_allowed: {
    members: { cors: { origins: ['https://a.example'] } },
    send: (url) => post(url, '{}', { headers: { origin: 'https://b.example' } }),
  },
  handshake_failed: {
    method: 'GET',
    send: (url) => get(`${url}?hub.challenge=1&hub.mode=subscribe&hub.verify_token=t`),
  },
  invalid_challenge: {
    method: 'GET',
    members: { handshake: { kind: 'hub_challenge', verify_token: 't' } },
    send: (url) => get(`${url}?hub.challenge=`),
  },
  scope_missing: { key: { scopes: ['stream'] }, send: (url) => post(url, '{}') },
  dataset_not_allowed: { key: { datasets: ['others'] }, send: (url) => post(url, '{}') },
  payload_too_large: { send: (url) => post(url, `"${'a'.repeat(1_000)}"`) },
  records_too_large: { members: { mappings: LISTS_OF_HOLES }, send: (url) => post(url, '{}') },
  unsupported_encoding: { send: (url) => post(url, '{}', { headers: { 'content-encoding': 'compress' } }) },
  missing_header: { members: SIGNED, send: (url) => post(url, '{}') },
  bad_signature: {
    members: SIGNED,
    send: (url) =>
      post(url, '{}', { headers: { 'stripe-signature': `t=${Math.floor(world.clock.wall() / 1_000)},v1=00` } }),
  },
  stale_timestamp: {
    members: SIGNED,
    send: (url) => post(url, '{}', { headers: { 'stripe-signature': signedAt(world, 301) } }),
  },
  empty_body: { send: (url) => post(url, '') },
  invalid_body: { send: (url) => post(url, '{') },
  loop_detected: { send: (url) => post(url, '{}', { headers: { 'service-hops': '5' } }) },
  invalid_idempotency_key: { send: (url) => post(url, '{}', { headers: { 'idempotency-key': 'with a space' } }) },
  idempotency_key_reused: {
    send: async (url) => {
      await post(url, '{}', { headers: { 'idempotency-key': 'reused' } })
      return post(url, '{"other":1}', { headers: { 'idempotency-key': 'reused' } })
    },
  },
  quota_exceeded: { send: (url) => meanwhile.withoutQuota(() => post(url, '{}')) },
  invalid_dataset: { send: (url) => post(`${url}/not-a-name`, '{}') },
  dataset_limit_reached: {
    send: (url) => {
      const fill = `insert into datasets (workspace_id, project_id, id, name, created_at)
                    select workspace_id, id, gen_random_uuid(), 'filler' || n, now() from projects, generate_series(1, 1000) as n where is_default`
      return meanwhile.changed(fill, "delete from datasets where name like 'filler%'", () =>
        post(`${url}/one_more`, '{}'),
      )
    },
  },
}

/** The checks before the proof of the sender. Those after it, and of questions, say nothing about a proof. */
const BEFORE: ReadonlySet<string> = new Set([
  'endpoint_disabled',
  'ip_not_allowed',
  'workspace_suspended',
  'workspace_closed',
  'burst_limited',
  'work_limited',
  'cors_origin_not_allowed',
  'scope_missing',
  'payload_too_large',
  'unsupported_encoding',
])
const DISPROVED: ReadonlySet<string> = new Set(['bad_signature', 'stale_timestamp', 'missing_header'])

describe('every request that is refused after its credential resolved is logged once, with reason, status, address, method and content type', () => {
  for (const [reason, { members, key: limits, method, send }] of Object.entries(PRODUCED)) {
    test(reason, async () => {
      const { id, slug, public_url } = await aWebhook(world, members)
      const key = limits === undefined ? undefined : await anIngestKey(world, limits)
      const answer = await send(key === undefined ? public_url : `${world.baseUrl}/v1/webhooks/${key.key}/${slug}`)
      const { status } = REASONS[reason as keyof typeof PRODUCED]
      assert.deepEqual([answer.status, answer.body.reason], [status, reason])
      const [row, ...others] = await logged(world, 1, { webhook_id: id })
      assert.deepEqual(others, [])
      const { at, id: rowId, ...rest } = row
      assert.match(rowId, /^rej_/)
      assert.ok(Date.parse(at) <= world.clock.now() && Date.parse(at) > world.clock.now() - MINUTE_MS)
      assert.deepEqual(rest, {
        webhook_id: id,
        ingest_key_id: key?.id ?? null,
        reason,
        status,
        count: 1,
        source_ip: '127.0.0.1',
        method: method ?? 'POST',
        content_type: method === 'GET' ? null : 'application/json',
        remedy: REMEDIES[reason as RejectionReason],
        verification: BEFORE.has(reason) ? 'unattempted' : DISPROVED.has(reason) ? 'failed' : null,
      })
    })
  }

  test('a preflight from a page that may not post is logged', async () => {
    const { id, public_url } = await aWebhook(world, { cors: { origins: ['https://a.example'] } })
    await fetch(public_url, { method: 'OPTIONS', headers: { origin: 'https://b.example' } })
    const [row] = await logged(world, 1, { webhook_id: id })
    assert.deepEqual([row.reason, row.method], ['cors_origin_not_allowed', 'OPTIONS'])
  })

  test('a body that is too large or breaks off while it arrives is logged', async () => {
    const { id, public_url } = await aWebhook(world)
    const head = `POST ${new URL(public_url).pathname} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`
    const large = new Wire(world.baseUrl).send(`${head}400\r\n${'x'.repeat(1_024)}\r\n`)
    assert.equal((await large.answer())?.status, 413)
    const broken = new Wire(world.baseUrl).send(`${head}2\r\n{}XX\r\n`)
    await broken.closed
    large.destroy()
    const rows = await logged(world, 2, { webhook_id: id })
    assert.deepEqual(reasonsOf(rows), ['invalid_body', 'payload_too_large'])
  })

  test('a refusal with an ingest key is logged for the key, and for the endpoint when the URL names one', async () => {
    const { id, key } = await anIngestKey(world)
    const webhook = await aWebhook(world, SIGNED)
    await post(`${world.baseUrl}/v1/ingest/${key}`, '{')
    await post(`${world.baseUrl}/v1/ingest/${key}/not-a-name`, '{}')
    await post(`${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`, '{}')
    const rows = await logged(world, 3, { ingest_key_id: id })
    const found = Object.fromEntries(rows.map((row) => [row.reason, row.webhook_id]))
    assert.deepEqual(found, { invalid_body: null, invalid_dataset: null, missing_header: webhook.id })
    assert.deepEqual(
      (await listed(world, { webhook_id: webhook.id })).map((row) => row.ingest_key_id),
      [id],
    )
  })

  test('the log has the address of the sender behind a trusted proxy', async () => {
    const behindProxy = await aWorld({ beside: world, env: { TRUST_PROXY: '127.0.0.1/32' }, now: world.clock.now() })
    const { id, public_url } = await aWebhook(world, { enabled: false })
    const path = new URL(public_url).pathname
    await post(behindProxy.baseUrl + path, '{}', { headers: { 'x-forwarded-for': '198.51.100.7' } })
    await behindProxy.stop()
    assert.equal((await logged(world, 1, { webhook_id: id }))[0].source_ip, '198.51.100.7')
  })
})

describe('requests that are not logged', () => {
  test('a request to an unknown URL or key is not logged', async () => {
    const had = (await listed(world)).length
    await post(`${world.endpoint}x`, '{}')
    await post(`${world.baseUrl}/v1/ingest/ik_live_unknown`, '{}')
    const { key } = await anIngestKey(world)
    await post(`${world.baseUrl}/v1/webhooks/${key}/nobody`, '{}')
    // The earlier refusals are written by now.
    const { id, public_url } = await aWebhook(world, { enabled: false })
    await post(public_url, '{}')
    await logged(world, 1, { webhook_id: id })
    assert.equal((await listed(world)).length, had + 1)
  })

  test('a repeat is not logged', async () => {
    const { id, public_url } = await aWebhook(world)
    const keyed = (key: string, body: string): Promise<Answer> =>
      post(public_url, body, { headers: { 'idempotency-key': key } })
    assert.deepEqual([(await keyed('k', '{}')).status, (await keyed('k', '{}')).status], [201, 200])
    await post(public_url, '')
    assert.deepEqual(
      (await logged(world, 1, { webhook_id: id })).map((row) => row.reason),
      ['empty_body'],
    )
  })

  test('an accepted request and an answered challenge are not logged', async () => {
    const { id, public_url } = await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: 't' } })
    await post(public_url, '{}')
    await get(`${public_url}?hub.challenge=1&hub.mode=subscribe&hub.verify_token=t`)
    await post(public_url, '')
    assert.deepEqual(
      (await logged(world, 1, { webhook_id: id })).map((row) => row.reason),
      ['empty_body'],
    )
  })
})

describe('one row for a credential, a reason and a UTC minute', () => {
  test('repeated refusals are counted, and the row shows the latest of them', async () => {
    const { id, public_url } = await aWebhook(world)
    const began = world.clock.now()
    for (const type of ['text/a', 'text/b', 'text/c']) {
      await post(public_url, '', { type })
      world.clock.advance(7_000)
    }
    const [row, ...others] = await logged(world, 3, { webhook_id: id })
    assert.deepEqual(others, [])
    assert.deepEqual([row.count, row.content_type, row.at], [3, 'text/c', new Date(began + 14_000).toISOString()])
  })

  test('another reason, another minute and another credential get separate rows', async () => {
    const webhook = await aWebhook(world)
    const { key } = await anIngestKey(world)
    for (const url of [webhook.public_url, `${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`]) {
      await post(url, '')
      await post(url, '{')
    }
    await logged(world, 4, { webhook_id: webhook.id })
    aNewMinute(world)
    await post(webhook.public_url, '')
    const rows = await logged(world, 5, { webhook_id: webhook.id })
    assert.deepEqual(
      rows.map((row) => row.count),
      [1, 1, 1, 1, 1],
    )
    assert.equal(new Set(rows.map((row) => row.id)).size, 5)
  })

  test('several processes count in the same row', async () => {
    const { id, public_url } = await aWebhook(world)
    const other = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' }, now: world.clock.now() })
    for (const base of [world.baseUrl, other.baseUrl, other.baseUrl])
      await post(base + new URL(public_url).pathname, '')
    await other.stop()
    const rows = await logged(world, 3, { webhook_id: id })
    assert.deepEqual(
      rows.map((row) => row.count),
      [3],
    )
  })

  test('a process that stops writes its remaining counts', async () => {
    const { id, public_url } = await aWebhook(world)
    const other = await aWorld({ beside: world, env: { LOG_LEVEL: 'silent' }, now: world.clock.now() })
    await post(other.baseUrl + new URL(public_url).pathname, '')
    await other.stop()
    assert.deepEqual(
      (await listed(world, { webhook_id: id })).map((row) => row.count),
      [1],
    )
  })
})
