import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { sql, type Database } from '../../src/platform/db.ts'
import { aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The rotation of verification secrets. Two nodes share one database. */
const HOUR_MS = 3_600_000
let world: World
let second: World
let database: Database

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    second = await aWorld({ beside: world, env: { ROLES: 'web' } })
    made.atEnd(() => second.stop())
  },
  { loops: [] },
)
const signed = (secret: string): Record<string, string> => ({
  'x-signature': createHmac('sha256', secret).update('{"a":1}').digest('hex'),
})
const rotateSecret = (id: string, body: object = {}): Promise<Answer> =>
  world.admin('POST', `webhooks/${id}/rotate-verification-secret`, body)
const aVerifying = (secret = 'old'): Promise<Answer['body']> =>
  aWebhook(world, { verification: { scheme: 'hmac', secret } })

const at = (node: World, url: string): string => url.replace(world.baseUrl, node.baseUrl)

async function statusAt(url: string, headers: Record<string, string> = {}, node = world): Promise<string> {
  const { status, body } = await post(at(node, url), '{"a":1}', { headers })
  return status === 201 ? '201' : `${status} ${body.reason}`
}

/** Moves both clocks, so that the nodes have the same time. */
function later(ms: number): void {
  world.clock.advance(ms)
  second.clock.advance(ms)
}

const inHours = (hours: number): string => new Date(world.clock.now() + hours * HOUR_MS).toISOString()

const lastAudit = (id: string): Promise<{ action: string; details: string; row: string }> =>
  database.one(
    sql`select action, details, a::text as row from audit_rows a where target = ${id} order by id desc limit 1`,
  )

function assertRefused(answer: Answer, status: number, text: RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.match(answer.body.error, text)
}

describe('the verification secret of an endpoint', () => {
  test('the new secret verifies immediately and the previous one until the deadline, on every node', async () => {
    const { id, public_url } = await aVerifying()
    const { status, headers, body } = await rotateSecret(id, { secret: 'new', overlap_hours: 2 })
    assert.deepEqual([status, headers.get('cache-control'), body.verification_secret], [200, 'no-store', undefined])
    assert.deepEqual(
      [body.webhook.verification.has_secret, body.webhook.verification.previous_secret_expires_at],
      [true, inHours(2)],
    )
    later(2 * HOUR_MS - 1)
    for (const node of [world, second]) {
      assert.equal(await statusAt(public_url, signed('new'), node), '201')
      assert.equal(await statusAt(public_url, signed('old'), node), '201')
      assert.equal(await statusAt(public_url, signed('other'), node), '401 bad_signature')
    }
    later(1)
    for (const node of [world, second]) {
      assert.equal(await statusAt(public_url, signed('old'), node), '401 bad_signature')
      assert.equal(await statusAt(public_url, signed('new'), node), '201')
    }
    assert.equal(
      (await world.admin('GET', `webhooks/${id}`)).body.webhook.verification.previous_secret_expires_at,
      null,
    )
  })

  test('once the overlap has ended, the next rotation needs no permission', async () => {
    const { id } = await aVerifying('one')
    await rotateSecret(id, { secret: 'two', overlap_hours: 1 })
    later(HOUR_MS - 1)
    assert.equal((await rotateSecret(id, { secret: 'three' })).status, 409)
    later(1)
    assert.equal((await rotateSecret(id, { secret: 'three' })).status, 200)
  })

  test('the deadline is in the time of the database, whatever the clock of this machine shows', async () => {
    const { id, public_url } = await aVerifying()
    await rotateSecret(id, { secret: 'new', overlap_hours: 1 })
    const { clock } = world
    const rest = { ...clock }
    clock.wall = () => clock.now() + 2 * HOUR_MS
    try {
      assert.equal(await statusAt(public_url, signed('old')), '201')
    } finally {
      Object.assign(clock, rest)
    }
  })

  test('with overlap 0 the previous secret ends immediately', async () => {
    const { id, public_url } = await aVerifying()
    const { body } = await rotateSecret(id, { secret: 'new', overlap_hours: 0 })
    assert.equal(body.webhook.verification.previous_secret_expires_at, null)
    assert.deepEqual(
      [await statusAt(public_url, signed('old')), await statusAt(public_url, signed('new'))],
      ['401 bad_signature', '201'],
    )
  })

  test('a second rotation within the overlap is refused, until the caller allows it to end the older secret', async () => {
    const { id, public_url } = await aVerifying('one')
    await rotateSecret(id, { secret: 'two' })
    const early = await rotateSecret(id, { secret: 'three' })
    assert.deepEqual([early.status, early.body.reason], [409, 'overlap_running'])
    assert.ok(early.body.error.includes(inHours(24)), 'the refusal names the time at which the overlap ends')
    assert.equal(await statusAt(public_url, signed('one')), '201')
    await rotateSecret(id, { secret: 'three', end_overlap: true })
    const answers = await Promise.all(['one', 'two', 'three'].map((secret) => statusAt(public_url, signed(secret))))
    assert.deepEqual(answers, ['401 bad_signature', '201', '201'])
  })

  test('a PATCH with a secret replaces the current one immediately and ends the overlap; other changes preserve both secrets', async () => {
    const { id, public_url } = await aVerifying('one')
    await rotateSecret(id, { secret: 'two' })
    await world.admin('PATCH', `webhooks/${id}`, {
      name: 'other',
      verification: { scheme: 'hmac', header: 'X-Signature' },
    })
    assert.deepEqual(
      [await statusAt(public_url, signed('one')), await statusAt(public_url, signed('two'))],
      ['201', '201'],
    )
    const { body } = await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'hmac', secret: 'three' } })
    assert.equal(body.webhook.verification.previous_secret_expires_at, null)
    const answers = await Promise.all(['one', 'two', 'three'].map((secret) => statusAt(public_url, signed(secret))))
    assert.deepEqual(answers, ['401 bad_signature', '401 bad_signature', '201'])
  })

  test('a generated secret is shown once, in the form of its scheme, and verifies', async () => {
    const forms = {
      payments_provider: /^whsec_[0-9A-Za-z]{43}$/,
      code_host: /^[0-9A-Za-z]{43}$/,
      commerce_platform: /^[0-9A-Za-z]{43}$/,
      chat_platform: /^[0-9A-Za-z]{43}$/,
      hmac: /^[0-9A-Za-z]{43}$/,
    }
    for (const [scheme, form] of Object.entries(forms)) {
      const { id } = await aWebhook(world, { verification: { scheme, secret: 'k' } })
      assert.match((await rotateSecret(id)).body.verification_secret, form, scheme)
    }
    const { id, public_url } = await aWebhook(world, {
      verification: { scheme: 'standard_webhooks', without_secret: true },
    })
    const { body } = await rotateSecret(id)
    assert.equal(body.webhook.verification.previous_secret_expires_at, null, 'there was none before')
    const when = new Date(world.clock.wall())
    const signature = new Webhook(body.verification_secret).sign('msg_1', when, '{"a":1}')
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(when.getTime() / 1_000)),
      'webhook-signature': signature,
    }
    assert.equal(await statusAt(public_url, headers), '201')
    const said = JSON.stringify([
      (await world.admin('GET', `webhooks/${id}`)).body,
      (await world.admin('GET', `webhooks/${id}/versions/1`)).body,
      await lastAudit(id),
    ])
    assert.ok(!said.includes(body.verification_secret))
  })

  test('a rotation is audited with the overlap and the deadline', async () => {
    const { id } = await aVerifying()
    await rotateSecret(id, { secret: 'hushed', overlap_hours: 4 })
    const { action, details, row } = await lastAudit(id)
    assert.deepEqual(
      [action, JSON.parse(details)],
      [
        'rotate_verification_secret',
        {
          overlap_hours: 4,
          previous_secret_expires_at: inHours(4),
          before: { previous_secret_expires_at: null },
          after: { previous_secret_expires_at: inHours(4) },
        },
      ],
    )
    assert.ok(!row.includes('hushed'))
  })

  test('the scheme none has no secret to rotate, and its verification shows no deadline; a secret that does not fit is refused', async () => {
    const open = await aWebhook(world)
    assertRefused(await rotateSecret(open.id), 400, /no secret to replace/)
    assert.deepEqual(open.verification, { scheme: 'none' })
    const { id } = await aWebhook(world, { verification: { scheme: 'standard_webhooks', without_secret: true } })
    assertRefused(await rotateSecret(id, { secret: 'whsec_!' }), 400, /^secret: The text after "whsec_" must be base64/)
    assertRefused(await rotateSecret(id, { secret: '' }), 400, /^secret: The secret may not be empty/)
    assertRefused(await rotateSecret(id, { overlap_hours: 721 }), 400, /^overlap_hours/)
  })
})
