import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { decodeId, type Reason } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import { anIngestKey, aWebhook, post, statement } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Restrictions on senders: IP allowlists and burst limits, and the order in which an event meets the gates. */
let world: World
let database: Database

// The test connects from loopback, so loopback is the trusted proxy that reports the address of the sender.
onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { env: { TRUST_PROXY: '127.0.0.1' }, loops: [] },
)

const from = (address: string, url: string): Promise<Answer> =>
  post(url, '{}', { headers: { 'x-forwarded-for': address } })
const outcome = ({ status, body }: Answer): string => (status === 201 ? '201' : `${status} ${body.reason}`)

async function changeWorkspace(set: string): Promise<void> {
  await statement(database, `update workspaces set ${set}`)
  world.app.deps.configChanged(decodeId('project', world.installed.project.id) ?? '')
}

describe('the IP allowlist', () => {
  test('the allowlist of an endpoint applies to its URL and to ingest keys; it accepts addresses, ranges and IPv4-mapped forms', async () => {
    const { key } = await anIngestKey(world)
    const { public_url, ip_allowlist } = await aWebhook(world, {
      slug: 'listed',
      ip_allowlist: ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32', '::ffff:192.0.2.1'],
    })
    assert.deepEqual(ip_allowlist, ['203.0.113.7', '198.51.100.0/24', '2001:db8::/32', '::ffff:192.0.2.1'])
    for (const url of [public_url, `${public_url}/elsewhere`, `${world.baseUrl}/v1/webhooks/${key}/listed`]) {
      for (const address of [
        '203.0.113.7',
        '::ffff:203.0.113.7',
        '::ffff:cb00:7107',
        '198.51.100.255',
        '2001:DB8::1',
        '192.0.2.1',
      ]) {
        assert.equal(outcome(await from(address, url)), '201', address)
      }
      for (const address of ['203.0.113.8', '198.51.101.0', '2001:db9::1', '127.0.0.1', '::1']) {
        assert.equal(outcome(await from(address, url)), '403 ip_not_allowed', address)
      }
    }
  })

  test('the allowlist of an ingest key applies to all forms of its URLs, beside the allowlist of the endpoint', async () => {
    const { ingest_key, key } = (
      await world.admin('POST', 'ingest-keys', { name: 'listed', ip_allowlist: ['203.0.113.0/24'] })
    ).body
    assert.deepEqual(ingest_key.ip_allowlist, ['203.0.113.0/24'])
    const { body } = await world.admin('GET', 'ingest-keys')
    assert.deepEqual(body.ingest_keys.find((one: { id: string }) => one.id === ingest_key.id).ip_allowlist, [
      '203.0.113.0/24',
    ])
    await aWebhook(world, { slug: 'both', ip_allowlist: ['203.0.113.1', '198.51.100.1'] })
    const at = (path: string): string => `${world.baseUrl}/v1/${path}`
    for (const url of [at(`ingest/${key}`), at(`ingest/${key}/d`)]) {
      assert.equal(outcome(await from('203.0.113.9', url)), '201')
      assert.equal(outcome(await from('198.51.100.1', url)), '403 ip_not_allowed')
    }
    assert.equal(outcome(await from('203.0.113.1', at(`webhooks/${key}/both`))), '201')
    assert.equal(outcome(await from('203.0.113.9', at(`webhooks/${key}/both`))), '403 ip_not_allowed')
    assert.equal(outcome(await from('198.51.100.1', at(`webhooks/${key}/both`))), '403 ip_not_allowed')
  })

  test('an allowlist refuses a sender whose address cannot be determined, and an empty allowlist admits every sender', async () => {
    const listed = await aWebhook(world, { ip_allowlist: ['0.0.0.0/0', '::/0'] })
    const open = await aWebhook(world, { ip_allowlist: [] })
    assert.equal(outcome(await from('unknown', listed.public_url)), '403 ip_not_allowed')
    assert.equal(outcome(await from('unknown', open.public_url)), '201')
    assert.equal(outcome(await from('8.8.8.8', listed.public_url)), '201')
  })

  test('a PATCH changes or empties the allowlist immediately', async () => {
    const { id, public_url } = await aWebhook(world, { ip_allowlist: ['203.0.113.7'] })
    assert.equal(outcome(await from('203.0.113.8', public_url)), '403 ip_not_allowed')
    await world.admin('PATCH', `webhooks/${id}`, { name: 'other' })
    assert.equal(outcome(await from('203.0.113.8', public_url)), '403 ip_not_allowed')
    await world.admin('PATCH', `webhooks/${id}`, { ip_allowlist: ['203.0.113.8'] })
    assert.equal(outcome(await from('203.0.113.8', public_url)), '201')
    const { body } = await world.admin('PATCH', `webhooks/${id}`, { ip_allowlist: [] })
    assert.deepEqual(body.webhook.ip_allowlist, [])
    assert.equal(outcome(await from('8.8.8.8', public_url)), '201')
  })

  test('an allowlist has at most 64 entries, each an address or a CIDR range', async () => {
    const many = Array.from({ length: 65 }, (_none, index) => `10.0.0.${index}`)
    assert.equal((await world.admin('POST', 'webhooks', { name: 'many', ip_allowlist: many.slice(1) })).status, 201)
    for (const ip_allowlist of [
      many,
      ['10.0.0.256'],
      ['10.0.0.0/33'],
      ['::/129'],
      ['example.com'],
      [''],
      ['10.0.0.1 '],
      ['0x7f.1'],
      'x',
      [1],
      ['010.0.0.1'],
    ]) {
      const answer = await world.admin('POST', 'webhooks', { name: 'bad', ip_allowlist })
      assert.deepEqual(
        [answer.status, answer.body.reason],
        [400, 'invalid_request'],
        JSON.stringify(ip_allowlist).slice(0, 40),
      )
      assert.match(answer.body.error, /ip_allowlist/)
    }
  })

  test('without TRUST_PROXY the server ignores X-Forwarded-For', async () => {
    const plain = await aWorld({ loops: [] })
    try {
      const { public_url } = await aWebhook(plain, { ip_allowlist: ['203.0.113.7'] })
      assert.equal(outcome(await from('203.0.113.7', public_url)), '403 ip_not_allowed')
      const local = await aWebhook(plain, { ip_allowlist: ['::ffff:127.0.0.0/104'] })
      assert.equal(outcome(await from('203.0.113.7', local.public_url)), '201')
    } finally {
      await plain.stop()
    }
  })
})

const times = async (count: number, url: string): Promise<readonly string[]> => {
  const outcomes: string[] = []
  for (let sent = 0; sent < count; sent += 1) outcomes.push(outcome(await post(url, '{}')))
  return outcomes
}
const accepted = (outcomes: readonly string[]): number => outcomes.filter((one) => one === '201').length

describe('the burst limit of the plan', () => {
  before(() => changeWorkspace("plan = 'free'"))
  after(() => changeWorkspace("plan = 'self_hosted'"))

  test('the plan free admits 100 requests at once and 50 a second, then answers 429 with retry_after in body and header; each credential has a separate limit', async () => {
    const { public_url } = await aWebhook(world)
    const { key } = await anIngestKey(world)
    assert.equal(accepted(await times(110, public_url)), 100)
    const refused = await post(public_url, '{}')
    assert.deepEqual(
      [refused.status, refused.body.reason, refused.body.retry_after, refused.headers.get('retry-after')],
      [429, 'burst_limited', 1, '1'],
    )
    assert.equal(accepted(await times(1, `${world.baseUrl}/v1/ingest/${key}`)), 1)
    world.clock.advance(1_000)
    assert.equal(accepted(await times(60, public_url)), 50)
    world.clock.advance(60_000)
    assert.equal(accepted(await times(110, public_url)), 100)
  })

  test('an ingest key has one bucket for all forms of its URLs, and the endpoint behind it has a separate bucket', async () => {
    const { public_url, slug } = await aWebhook(world)
    const { key } = await anIngestKey(world)
    const [whole, through] = [`${world.baseUrl}/v1/ingest/${key}/d`, `${world.baseUrl}/v1/webhooks/${key}/${slug}`]
    assert.equal(accepted([...(await times(60, whole)), ...(await times(60, through))]), 100)
    for (const url of [whole, through, `${world.baseUrl}/v1/ingest/${key}`]) {
      const { status, body, headers } = await post(url, '{}')
      assert.deepEqual(
        [status, body.reason, body.retry_after, headers.get('retry-after')],
        [429, 'burst_limited', 1, '1'],
      )
    }
    assert.equal(accepted(await times(110, public_url)), 100)
  })

  test('the burst limit is checked before the body is read, and a rejected request stores nothing', async () => {
    const { id, public_url } = await aWebhook(world)
    await times(100, public_url)
    const answer = await post(public_url, `"${'x'.repeat(2_000_000)}"`)
    assert.equal(answer.body.reason, 'burst_limited')
    const { body } = await world.admin('GET', `submissions?webhook_id=${id}&limit=200`)
    assert.equal(body.submissions.length, 100)
  })

  for (const plan of ['team', 'removed'])
    test(`a workspace has the default of 1,000 at once and 500 a second when its plan sets no limit, or is not in plans.json: ${plan}`, async () => {
      const { public_url } = await aWebhook(world)
      await changeWorkspace(`plan = '${plan}'`)
      // A later gate refuses these requests, so they store nothing and still take a token.
      const taken = async (count: number): Promise<number> => {
        const answers = await Promise.all(
          Array.from({ length: count }, () => post(public_url, '{}', { headers: { 'content-encoding': 'compress' } })),
        )
        return answers.filter(({ body }) => body.reason === 'unsupported_encoding').length
      }
      assert.equal(await taken(1_000), 1_000)
      const refused = await post(public_url, '{}')
      assert.deepEqual([outcome(refused), refused.body.retry_after], ['429 burst_limited', 1])
      world.clock.advance(1_000)
      assert.equal(await taken(510), 500)
      await changeWorkspace("plan = 'free'")
    })

  test('the plan self_hosted has no burst limit', async () => {
    const { public_url } = await aWebhook(world)
    await changeWorkspace("plan = 'self_hosted'")
    assert.equal(accepted(await times(300, public_url)), 300)
    await changeWorkspace("plan = 'free'")
  })
})

/** Decisions on ingest: every gate refuses this event; as the test opens them one by one, the next gate answers. */
test('the gates answer in the specified order', async () => {
  const { id, public_url } = await aWebhook(world, {
    enabled: false,
    ip_allowlist: ['203.0.113.7'],
    cors: { origins: ['https://shop.example'] },
    verification: { scheme: 'hmac', secret: 'k' },
    handshake: { kind: 'url_verification' },
  })
  let headers: Record<string, string> = {
    origin: 'https://other.example',
    'content-encoding': 'compress',
    'service-hops': '9',
    'x-signature': 'no',
  }
  let body = `{${'x'.repeat(1_048_576)}`
  const change = (members: object): Promise<Answer> => world.admin('PATCH', `webhooks/${id}`, members)
  const without = (name: string): void => {
    headers = Object.fromEntries(Object.entries(headers).filter(([header]) => header !== name))
  }
  await changeWorkspace("plan = 'free'")
  const steps: readonly (readonly [Reason, () => unknown])[] = [
    ['endpoint_disabled', () => change({ enabled: true })],
    [
      'ip_not_allowed',
      async () => {
        for (let sent = 0; sent < 100; sent += 1) await from('203.0.113.7', public_url)
        await change({ ip_allowlist: [] })
        await changeWorkspace('suspended_at = now()')
      },
    ],
    ['workspace_suspended', () => changeWorkspace('suspended_at = null')],
    ['burst_limited', () => world.clock.advance(10_000)],
    ['cors_origin_not_allowed', () => without('origin')],
    ['payload_too_large', () => (body = '{')],
    ['unsupported_encoding', () => (headers['content-encoding'] = 'gzip')],
    ['bad_signature', () => change({ verification: { scheme: 'none' } })],
    ['invalid_body', () => without('content-encoding')],
    ['invalid_body', () => (body = '{"type":"url_verification","challenge":""}')],
    ['invalid_challenge', () => (body = '{}')],
    ['loop_detected', () => without('service-hops')],
  ]
  for (const [reason, open] of steps) {
    assert.equal((await post(public_url, body, { headers })).body.reason, reason)
    await open()
  }
  assert.equal((await post(public_url, body, { headers })).status, 201)
  await changeWorkspace("plan = 'self_hosted'")
})
