import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Reason } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import { anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { atANodeWithoutDatabase, Meanwhile } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The order of refusals, and proof that a rejected request leaves nothing behind. */
let world: World
let database: Database
let meanwhile: Meanwhile

onWorldStage(
  (made) => {
    ;({ world, database } = made)
    meanwhile = new Meanwhile(world, database)
  },
  { env: { LOG_LEVEL: 'silent' } },
)

describe('the order of checks: of several faults in one request, the earliest check answers', () => {
  type Fault = {
    readonly reason: Reason
    /** The part after the URL of the endpoint. */
    readonly url?: string
    /** Changes to the endpoint. */
    readonly members?: Readonly<Record<string, unknown>>
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
    readonly suspended?: true
    readonly bursting?: true
    readonly exhausted?: true
  }
  /** Decisions on ingest, from the credential to the quota. */
  const LADDER: readonly Fault[] = [
    { reason: 'endpoint_not_found', url: 'x' },
    { reason: 'endpoint_disabled', members: { enabled: false } },
    { reason: 'ip_not_allowed', members: { ip_allowlist: ['203.0.113.7'] } },
    { reason: 'workspace_suspended', suspended: true },
    { reason: 'burst_limited', bursting: true },
    {
      reason: 'cors_origin_not_allowed',
      members: { cors: { origins: ['https://shop.example'] } },
      headers: { origin: 'https://other.example' },
    },
    { reason: 'payload_too_large', body: `{${'x'.repeat(1_048_576)}` },
    { reason: 'unsupported_encoding', headers: { 'content-encoding': 'compress' } },
    {
      reason: 'bad_signature',
      members: { verification: { scheme: 'hmac', secret: 'k' } },
      headers: { 'x-signature': 'nonsense' },
    },
    { reason: 'invalid_body', body: '{' },
    { reason: 'loop_detected', headers: { 'service-hops': '9' } },
    { reason: 'invalid_idempotency_key', headers: { 'idempotency-key': 'with a space' } },
    { reason: 'idempotency_key_reused', headers: { 'idempotency-key': 'reused' } },
    { reason: 'quota_exceeded', exhausted: true },
  ]

  /** The valid values of the settings; where two faults are in the same place the earlier one applies. */
  const SOUND = { enabled: true, ip_allowlist: [], cors: null, verification: { scheme: 'none' } }

  async function sendWith(
    faults: readonly Fault[],
    { id, public_url }: { readonly id: string; readonly public_url: string },
  ): Promise<Answer> {
    const has = (member: keyof Fault): Fault | undefined => faults.find((fault) => fault[member] !== undefined)
    const headers = Object.assign({}, ...faults.toReversed().map((fault) => fault.headers))
    const send = (): Promise<Answer> =>
      post(public_url + (has('url')?.url ?? ''), has('body')?.body ?? '{}', { headers })
    const sendCounted = (): Promise<Answer> => (has('exhausted') ? meanwhile.withoutQuota(send) : send())
    const sendFaulty = async (): Promise<Answer> => {
      const { status } = await world.admin(
        'PATCH',
        `webhooks/${id}`,
        Object.assign({}, SOUND, ...faults.map(({ members }) => members)),
      )
      assert.equal(status, 200)
      return has('suspended') ? meanwhile.suspended(sendCounted) : sendCounted()
    }
    if (has('bursting')) return meanwhile.afterABurst(public_url, sendFaulty)
    // An empty bucket fills again.
    world.clock.advance(10_000)
    return sendFaulty()
  }

  for (const [at, { reason }] of LADDER.entries()) {
    const faults = LADDER.slice(at)
    test(faults.map((fault) => fault.reason).join(' before '), async () => {
      const { id, public_url } = await aWebhook(world)
      await post(public_url, '{"first":1}', { headers: { 'idempotency-key': 'reused' } })
      assert.equal((await sendWith(faults, { id, public_url })).body.reason, reason)
    })
  }

  test('a request that breaks every rung is refused at each of them in turn as one fault after the other is corrected; then it is accepted', async () => {
    const { id, public_url } = await aWebhook(world)
    await post(public_url, '{"first":1}', { headers: { 'idempotency-key': 'reused' } })
    const refused: string[] = []
    for (const at of LADDER.keys()) refused.push((await sendWith(LADDER.slice(at), { id, public_url })).body.reason)
    assert.deepEqual(
      refused,
      LADDER.map(({ reason }) => reason),
    )
    assert.equal((await sendWith([], { id, public_url })).status, 201)
  })

  test('a repeat is answered when the quota is used up, and refused by every rung that comes before', async () => {
    const { id, public_url } = await aWebhook(world)
    const repeat: Fault = { reason: 'quota_exceeded', headers: { 'idempotency-key': 'reused' } }
    assert.equal((await sendWith([repeat], { id, public_url })).status, 201)
    for (const at of LADDER.keys()) {
      const { status, body } = await sendWith([repeat, ...LADDER.slice(at)], { id, public_url })
      const { reason } = LADDER[at] ?? repeat
      if (reason.startsWith('invalid_idem') || reason.startsWith('idempotency') || reason === 'quota_exceeded')
        assert.deepEqual([status, body.duplicate], [200, true])
      else assert.equal(body.reason, reason)
    }
  })

  test('the signature is checked before an empty body is reported', async () => {
    const { public_url } = await aWebhook(world, { verification: { scheme: 'payments_provider', secret: 'k' } })
    assert.equal((await post(public_url, '')).body.reason, 'missing_header')
  })

  test('the admin API checks the version, then the caller, then the permission, then the request', async () => {
    const bad = { authorization: 'Bearer hk_unknown', 'service-version': '1999-01-01' }
    assert.equal((await world.admin('POST', 'rules', { name: 1 }, bad)).body.reason, 'unsupported_version')
    assert.equal(
      (await world.admin('POST', 'rules', { name: 1 }, { authorization: 'Bearer hk_unknown' })).body.reason,
      'unauthorized',
    )
    await meanwhile.changed("update api_keys set role = 'viewer'", "update api_keys set role = 'admin'", async () => {
      assert.equal((await world.admin('POST', 'rules', { name: 1 })).body.reason, 'insufficient_role')
    })
    await meanwhile.suspended(async () =>
      assert.equal((await world.admin('POST', 'rules', { name: 1 })).body.reason, 'workspace_suspended'),
    )
    assert.equal((await world.admin('POST', 'rules', { name: 1 })).body.reason, 'invalid_request')
  })
})

describe('the order of checks on the URLs of an ingest key', () => {
  for (const form of ['ingest/{key}', 'ingest/{key}/d', 'webhooks/{key}/{slug}']) {
    test(`/v1/${form}: turned off, address, suspension, burst, signature`, async () => {
      const { slug } = await aWebhook(world)
      const { id, key, secret } = await anIngestKey(world, { require_signature: true })
      const url = `${world.baseUrl}/v1/${form.replace('{key}', key).replace('{slug}', slug)}`
      const said: unknown[] = []
      const send = async (signature: string): Promise<unknown> => {
        const { status, body } = await post(url, '{}', { headers: { 'x-service-signature': signature } })
        return said.push(status === 201 ? '201' : body.reason)
      }
      const change = async (members: object): Promise<unknown> =>
        assert.equal((await world.admin('PATCH', `ingest-keys/${id}`, members)).status, 200)
      await meanwhile.afterABurst(url, async () => {
        await change({ enabled: false, ip_allowlist: ['203.0.113.7'] })
        await meanwhile.suspended(() => send('nonsense'))
        await change({ enabled: true })
        await meanwhile.suspended(() => send('nonsense'))
        await change({ ip_allowlist: [] })
        await meanwhile.suspended(() => send('nonsense'))
        await send('nonsense')
        world.clock.advance(10_000)
        await send('nonsense')
        const t = Math.floor(world.clock.wall() / 1_000)
        await send(`t=${t},v1=${createHmac('sha256', secret).update(`${t}.{}`).digest('hex')}`)
      })
      assert.deepEqual(said, [
        'endpoint_disabled',
        'ip_not_allowed',
        'workspace_suspended',
        'burst_limited',
        'bad_signature',
        '201',
      ])
    })
  }
})

describe('suspension', () => {
  test('every form of ingest gets 403 before anything is stored, admin reads continue, and everything works after reinstatement', async () => {
    const { key } = await anIngestKey(world)
    const { public_url } = await aWebhook(world, { slug: 'suspended' })
    const urls = [
      public_url,
      `${public_url}/d`,
      ...[key, `${key}/d`].map((path) => `${world.baseUrl}/v1/ingest/${path}`),
      `${world.baseUrl}/v1/webhooks/${key}/suspended`,
    ]
    const stored = async (): Promise<number> =>
      (await world.admin('GET', 'submissions?limit=200')).body.submissions.length
    const had = await stored()
    await meanwhile.suspended(async () => {
      for (const url of urls) assert.deepEqual([(await post(url, '{}')).status], [403])
      assert.equal(await stored(), had)
      assert.equal((await world.admin('GET', 'webhooks')).status, 200)
    })
    for (const url of urls) assert.equal((await post(url, '{}')).status, 201)
  })
})

describe('faults of the database', () => {
  test('an event that got 503 is not stored, then or later, and the answer has Retry-After', async () => {
    const had = (await world.admin('GET', 'submissions?limit=200')).body.submissions.length
    const answer = await meanwhile.locked(() => post(world.endpoint, '{"never":"stored"}'))
    assert.deepEqual([answer.status, answer.headers.get('retry-after'), answer.body.retry_after], [503, '1', 1])
    assert.equal((await world.admin('GET', 'submissions?limit=200')).body.submissions.length, had)
    assert.equal((await post(world.endpoint, '{}')).status, 201)
  })

  test('without its database the server answers 503 with Retry-After on ingest, for known and unknown credentials, and /readyz reports it', async () => {
    await atANodeWithoutDatabase(async (lost) => {
      for (const url of [lost.endpoint, `${lost.baseUrl}/v1/ingest/ik_live_unknown`]) {
        const answer = await post(url, '{}')
        assert.deepEqual(
          [answer.status, answer.body.reason, answer.headers.get('retry-after')],
          [503, 'storage_unavailable', '1'],
          JSON.stringify(answer.body),
        )
      }
      const ready = await fetch(`${lost.baseUrl}/readyz`)
      assert.equal(ready.status, 503)
      assert.equal((await fetch(`${lost.baseUrl}/healthz`)).status, 200)
      return post(lost.endpoint, '{}')
    })
  })

  test('a 500 reveals nothing of the internal cause', async () => {
    const answer = await meanwhile.withoutRules(() => world.admin('GET', 'rules'))
    assert.deepEqual(Object.keys(answer.body), ['error', 'reason'])
    assert.ok(!JSON.stringify(answer.body).includes('rules_gone'))
  })

  test('while a plan cannot be read, ingest answers 500 and stores nothing; once it can be read, ingest works again', async () => {
    const answer = await meanwhile.withoutRules(() => post(world.endpoint, '{}'))
    assert.deepEqual([answer.status, answer.body.reason], [500, 'internal'])
    assert.equal((await post(world.endpoint, '{}')).status, 201)
  })
})
