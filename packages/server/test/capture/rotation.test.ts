import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { Webhook } from 'standardwebhooks'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aWebhook, behind, post } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { Meanwhile } from '../stage/meanwhile.ts'

/** Contract part 3, rows "Endpoint URL", and the rotation of verification secrets. Two nodes stand on one database. */
const HOUR_MS = 3_600_000
let world: World
let second: World
let database: Database

before(async () => {
  world = await aWorld()
  second = await aWorld({ beside: world, env: { ROLES: 'web' } })
  database = behind(world)
})
after(async () => {
  await database.close()
  await second.stop()
  await world.stop()
})

const rotate = (id: string, body?: object): Promise<Answer> => world.admin('POST', `webhooks/${id}/rotate`, body)
const restOf = (of: object, without: readonly string[]): object =>
  Object.fromEntries(Object.entries(of).filter(([member]) => !without.includes(member)))
const credentialRows = async (): Promise<string> =>
  (await database.one<{ rows: string }>(sql`select string_agg(t::text, ',' order by hash) as rows from credentials t`))
    .rows
const signed = (secret: string): Record<string, string> => ({
  'x-signature': createHmac('sha256', secret).update('{"a":1}').digest('hex'),
})
const rotateSecret = (id: string, body: object = {}): Promise<Answer> =>
  world.admin('POST', `webhooks/${id}/rotate-verification-secret`, body)
const aVerifying = (secret = 'old'): Promise<Answer['body']> =>
  aWebhook(world, { verification: { scheme: 'hmac', secret } })
const versions = async (id: string): Promise<Answer['body'][]> =>
  (await world.admin('GET', `webhooks/${id}/versions`)).body.versions
const restore = (id: string, version: number, body: object = {}): Promise<Answer> =>
  world.admin('POST', `webhooks/${id}/versions/${version}/restore`, body)
const configOf = async (id: string, version: number): Promise<Answer['body']> =>
  (await world.admin('GET', `webhooks/${id}/versions/${version}`)).body.version.config

const at = (node: World, url: string): string => url.replace(world.baseUrl, node.baseUrl)

async function statusAt(url: string, headers: Record<string, string> = {}, node = world): Promise<string> {
  const { status, body } = await post(at(node, url), '{"a":1}', { headers })
  return status === 201 ? '201' : `${status} ${body.reason}`
}

/** Both clocks at once: the nodes have the same time. */
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

describe('the URL of an endpoint', () => {
  test('rotate: the new URL works, and the old one until its deadline; then it answers 404, on every node and with no write', async () => {
    const webhook = await aWebhook(world)
    assert.equal(
      await statusAt(webhook.public_url, {}, second),
      '201',
      'the second node knows the old URL as one without an end',
    )
    const { status, body } = await rotate(webhook.id, { overlap_hours: 2 })
    assert.equal(status, 200)
    assert.deepEqual(body, {
      id: webhook.id,
      webhook_slug: body.webhook_slug,
      public_path: `/main/default/${body.webhook_slug}`,
      public_url: `${world.baseUrl}/main/default/${body.webhook_slug}`,
      previous_public_url: webhook.public_url,
      previous_url_expires_at: inHours(2),
    })
    assert.match(body.webhook_slug, /^[0-9A-Za-z]{22,}$/, 'at least 128 bits')
    assert.notEqual(body.webhook_slug, webhook.webhook_slug)
    later(2 * HOUR_MS - 1)
    for (const node of [world, second]) {
      assert.equal(await statusAt(body.public_url, {}, node), '201')
      await eventually(async () => ((await statusAt(webhook.public_url, {}, node)) === '201' ? true : undefined))
    }
    const written = await credentialRows()
    later(1)
    for (const node of [world, second]) {
      assert.equal(await statusAt(webhook.public_url, {}, node), '404 endpoint_not_found')
      assert.equal(await statusAt(body.public_url, {}, node), '201')
    }
    assert.equal(await credentialRows(), written)
    const held = (await world.admin('GET', `webhooks/${webhook.id}`)).body.webhook
    assert.deepEqual(
      [held.public_url, held.previous_public_url, held.previous_url_expires_at],
      [body.public_url, null, null],
    )
  })

  test('the overlap is 24 hours when nothing is said', async () => {
    const { id } = await aWebhook(world)
    assert.equal((await rotate(id)).body.previous_url_expires_at, inHours(24))
    assert.equal((await rotate(id, {})).body.previous_url_expires_at, inHours(24))
  })

  test('with overlap 0 the old URL ends at once, on every node, and the previous pair is null', async () => {
    const webhook = await aWebhook(world)
    assert.equal(await statusAt(webhook.public_url, {}, second), '201')
    const { body } = await rotate(webhook.id, { overlap_hours: 0 })
    assert.deepEqual([body.previous_public_url, body.previous_url_expires_at], [null, null])
    assert.equal(await statusAt(webhook.public_url), '404 endpoint_not_found')
    assert.equal(await statusAt(body.public_url), '201')
    await eventually(async () =>
      (await statusAt(webhook.public_url, {}, second)) === '404 endpoint_not_found' ? true : undefined,
    )
  })

  test('to rotate again inside the overlap ends the older URL at once, on every node; one previous is kept', async () => {
    const first = await aWebhook(world)
    const { body: middle } = await rotate(first.id, { overlap_hours: 5 })
    assert.equal(await statusAt(first.public_url, {}, second), '201')
    const { body: newest } = await rotate(first.id, { overlap_hours: 1 })
    assert.deepEqual([newest.previous_public_url, newest.previous_url_expires_at], [middle.public_url, inHours(1)])
    assert.deepEqual(await Promise.all([first, middle, newest].map(({ public_url }) => statusAt(public_url))), [
      '404 endpoint_not_found',
      '201',
      '201',
    ])
    await eventually(async () =>
      (await statusAt(first.public_url, {}, second)) === '404 endpoint_not_found' ? true : undefined,
    )
    const { body: last } = await rotate(first.id, { overlap_hours: 0 })
    assert.deepEqual(await Promise.all([middle, newest, last].map(({ public_url }) => statusAt(public_url))), [
      '404 endpoint_not_found',
      '404 endpoint_not_found',
      '201',
    ])
  })

  test('id, dataset, settings and history stay', async () => {
    const webhook = await aWebhook(world, {
      criteria: [{ path: 'a', equals: 1 }],
      verification: { scheme: 'hmac', secret: 'k' },
    })
    await rotate(webhook.id)
    const { webhook: held } = (await world.admin('GET', `webhooks/${webhook.id}`)).body
    const moved = [
      'webhook_slug',
      'public_path',
      'public_url',
      'previous_public_url',
      'previous_url_expires_at',
      'updated_at',
    ]
    assert.deepEqual(restOf(held, moved), restOf(webhook, moved))
  })

  test('it is audited as rotate_webhook_url with the overlap and the deadline, and no slug', async () => {
    const webhook = await aWebhook(world)
    const { body } = await rotate(webhook.id, { overlap_hours: 3 })
    const { action, details, row } = await lastAudit(webhook.id)
    assert.deepEqual(
      [action, JSON.parse(details)],
      ['rotate_webhook_url', { overlap_hours: 3, previous_url_expires_at: inHours(3) }],
    )
    for (const slug of [webhook.webhook_slug, body.webhook_slug]) assert.ok(!row.includes(slug))
    await rotate(webhook.id, { overlap_hours: 0 })
    assert.deepEqual(JSON.parse((await lastAudit(webhook.id)).details), {
      overlap_hours: 0,
      previous_url_expires_at: null,
    })
  })

  test('an overlap that is no whole number from 0 to 720 is refused and changes nothing', async () => {
    const webhook = await aWebhook(world)
    for (const overlap_hours of [-1, 721, 1.5, '24', null])
      assertRefused(
        await rotate(webhook.id, { overlap_hours }),
        400,
        /^overlap_hours: The overlap is a whole number of hours, 0 to 720\.$/,
      )
    assert.equal((await world.admin('GET', `webhooks/${webhook.id}`)).body.webhook.public_url, webhook.public_url)
    assert.equal((await rotate(webhook.id, { overlap_hours: 720 })).body.previous_url_expires_at, inHours(720))
  })

  test('with end_overlap false a rotation inside the overlap is refused and changes nothing', async () => {
    const first = await aWebhook(world)
    const { body: next } = await rotate(first.id, { overlap_hours: 1, end_overlap: false })
    const refusal = await rotate(first.id, { overlap_hours: 0, end_overlap: false })
    assert.deepEqual([refusal.status, refusal.body.reason], [409, 'overlap_running'])
    assert.ok(refusal.body.error.includes(inHours(1)), 'the refusal names the time at which the overlap ends')
    for (const url of [first.public_url, next.public_url]) assert.equal(await statusAt(url), '201')
    later(HOUR_MS)
    assert.equal((await rotate(first.id, { end_overlap: false })).status, 200)
  })

  test('two rotations at once: one URL is current, one is previous, and no other works', async () => {
    const webhook = await aWebhook(world)
    const answers = await Promise.all([1, 2, 3, 4].map(() => rotate(webhook.id)))
    const { webhook: held } = (await world.admin('GET', `webhooks/${webhook.id}`)).body
    const living = [held.public_url, held.previous_public_url]
    for (const url of [webhook.public_url, ...answers.map(({ body }) => body.public_url)])
      assert.equal(await statusAt(url), living.includes(url) ? '201' : '404 endpoint_not_found')
  })

  test('both URLs share one burst limit and answer the handshake', async () => {
    const webhook = await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: 't' } })
    const { body } = await rotate(webhook.id)
    for (const url of [webhook.public_url, body.public_url]) {
      assert.equal(await (await fetch(`${url}?hub.mode=subscribe&hub.verify_token=t&hub.challenge=yes`)).text(), 'yes')
    }
    await new Meanwhile(world, database).afterABurst(webhook.public_url, async () => {
      for (const url of [body.public_url, webhook.public_url]) assert.equal(await statusAt(url), '429 burst_limited')
    })
  })

  test('upkeep forgets URLs that ended, and no others', async () => {
    const webhook = await aWebhook(world)
    const { body } = await rotate(webhook.id, { overlap_hours: 1 })
    const uuid = decodeId('webhook', webhook.id) ?? ''
    const count = async (): Promise<number> =>
      (await database.one<{ n: number }>(sql`select count(*) as n from credentials where subject_id = ${uuid}`)).n
    const upkeep = async (): Promise<void> => {
      await runUpkeep(world.app.deps)
    }
    later(HOUR_MS - 1)
    await upkeep()
    assert.equal(await count(), 2)
    later(2 * HOUR_MS)
    await upkeep()
    assert.equal(await count(), 1)
    assert.equal(await statusAt(body.public_url), '201')
  })
})

describe('the verification secret of an endpoint', () => {
  test('the new secret verifies at once and the former one until the deadline, on every node', async () => {
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

  test('the deadline is the database’s time, whatever this machine’s clock says', async () => {
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

  test('with overlap 0 the former secret ends at once', async () => {
    const { id, public_url } = await aVerifying()
    const { body } = await rotateSecret(id, { secret: 'new', overlap_hours: 0 })
    assert.equal(body.webhook.verification.previous_secret_expires_at, null)
    assert.deepEqual(
      [await statusAt(public_url, signed('old')), await statusAt(public_url, signed('new'))],
      ['401 bad_signature', '201'],
    )
  })

  test('to rotate again within the overlap is refused, until the caller says that it may end the older secret', async () => {
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

  test('a secret set by a change replaces the current one at once and ends the overlap; other changes leave both', async () => {
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

  test('a minted secret is shown once, in the form of its scheme, and verifies', async () => {
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

  test('it is audited with the overlap and the deadline', async () => {
    const { id } = await aVerifying()
    await rotateSecret(id, { secret: 'hushed', overlap_hours: 4 })
    const { action, details, row } = await lastAudit(id)
    assert.deepEqual(
      [action, JSON.parse(details)],
      ['rotate_verification_secret', { overlap_hours: 4, previous_secret_expires_at: inHours(4) }],
    )
    assert.ok(!row.includes('hushed'))
  })

  test('scheme none has none to rotate, and its verification shows no deadline; a secret that does not fit is refused', async () => {
    const open = await aWebhook(world)
    assertRefused(await rotateSecret(open.id), 400, /no secret to replace/)
    assert.deepEqual(open.verification, { scheme: 'none' })
    const { id } = await aWebhook(world, { verification: { scheme: 'standard_webhooks', without_secret: true } })
    assertRefused(await rotateSecret(id, { secret: 'whsec_!' }), 400, /^secret: What follows "whsec_" is base64/)
    assertRefused(await rotateSecret(id, { secret: '' }), 400, /^secret: The secret may not be empty/)
    assertRefused(await rotateSecret(id, { overlap_hours: 721 }), 400, /^overlap_hours/)
  })
})

describe('the versions of an endpoint', () => {
  test('every change of a setting makes a version that says who made it and what differs', async () => {
    const { id } = await aWebhook(world, { name: 'One' })
    await world.admin('PATCH', `webhooks/${id}`, { name: 'Two', enabled: true })
    await world.admin('PATCH', `webhooks/${id}`, {
      criteria: [{ path: 'a', equals: 1 }],
      cors: { origins: ['https://a.example'] },
    })
    const all = await versions(id)
    assert.deepEqual(
      all.map(({ version, changed, restored_from }) => [version, changed, restored_from]),
      [
        [3, ['criteria', 'cors'], null],
        [2, ['name'], null],
        [
          1,
          [
            'name',
            'slug',
            'dataset',
            'enabled',
            'criteria',
            'mappings',
            'verification',
            'ip_allowlist',
            'cors',
            'handshake',
            'idempotency',
            'event_title',
            'refused_samples',
          ],
          null,
        ],
      ],
    )
    assert.match(all[0].actor, /^usr_/)
    assert.match(all[0].agent, /^api_key:key_/)
    assert.deepEqual(
      [(await configOf(id, 1)).name, (await configOf(id, 3)).criteria],
      ['One', [{ path: 'a', equals: 1 }]],
    )
    assert.equal((await world.admin('GET', `webhooks/${id}`)).body.webhook.version, 3)
  })

  test('what changes no setting makes no version: the same values, a secret, a rotation', async () => {
    const { id, name } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
    await world.admin('PATCH', `webhooks/${id}`, { name })
    await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'hmac', secret: 'l' } })
    await rotate(id)
    await world.admin('POST', `webhooks/${id}/rotate-verification-secret`, {})
    assert.deepEqual(
      (await versions(id)).map(({ version }) => version),
      [1],
    )
  })

  test('a version holds no secret and no URL', async () => {
    const webhook = await aWebhook(world, {
      verification: { scheme: 'hmac', secret: 'hushed secret' },
      handshake: { kind: 'hub_challenge', verify_token: 'hushed token' },
    })
    const said = JSON.stringify((await world.admin('GET', `webhooks/${webhook.id}/versions/1`)).body)
    const [row] = await database.many<{ row: string }>(
      sql`select t::text as row from webhook_versions t where webhook_id = ${decodeId('webhook', webhook.id) ?? ''}`,
    )
    for (const text of [said, row?.row ?? ''])
      assert.ok(!['hushed', webhook.webhook_slug].some((secret) => text.includes(secret)))
  })

  test('to restore takes over every setting, makes a new version and is audited; URL and secret stay', async () => {
    const members = {
      criteria: [{ path: 'a', equals: 1 }],
      mappings: [{ target: 'b', path: 'a' }],
      ip_allowlist: ['127.0.0.1'],
      verification: { scheme: 'hmac', secret: 'k', encoding: 'base64' },
    }
    const webhook = await aWebhook(world, members)
    const { id } = webhook
    await world.admin('PATCH', `webhooks/${id}`, {
      name: 'Other',
      slug: `${webhook.slug}-2`,
      dataset: 'other',
      enabled: false,
      criteria: [],
      mappings: [],
      ip_allowlist: [],
      verification: { scheme: 'hmac', encoding: 'hex' },
    })
    const { status, body } = await restore(id, 1)
    assert.equal(status, 200)
    assert.deepEqual(body.webhook, { ...webhook, version: 3, updated_at: body.webhook.updated_at })
    assert.deepEqual(await configOf(id, 3), await configOf(id, 1))
    assert.equal((await versions(id))[0].restored_from, 1)
    const { action, details } = await lastAudit(id)
    assert.deepEqual([action, JSON.parse(details)], ['restore_webhook_version', { restored: 1, version: 3 }])
    const headers = { 'x-signature': createHmac('sha256', 'k').update('{"a":1}').digest('base64') }
    assert.equal(await statusAt(webhook.public_url, headers), '201', 'it takes effect at once')
    await eventually(async () => ((await statusAt(webhook.public_url, headers, second)) === '201' ? true : undefined))
  })

  test('a version with another scheme needs its secret, or says that it comes later', async () => {
    const { id, public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
    await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'none' } })
    assertRefused(await restore(id, 1), 400, /Version 1 verifies by hmac, and its secret is no longer stored/)
    assertRefused(await restore(id, 1, { secret: 'x', without_secret: true }), 400, /not both/)
    assertRefused(await restore(id, 2, { secret: 'x' }), 400, /verifies nothing/)
    assert.equal(await statusAt(public_url), '201', 'nothing has changed')
    const { body } = await restore(id, 1, { without_secret: true })
    assert.equal(body.webhook.verification.has_secret, false)
    assert.equal(await statusAt(public_url), '401 bad_signature')
    await restore(id, 2)
    await restore(id, 1, { secret: 'fresh' })
    assert.equal(
      await statusAt(public_url, { 'x-signature': createHmac('sha256', 'fresh').update('{"a":1}').digest('hex') }),
      '201',
    )
    assertRefused(await restore(id, 1, { without_secret: true }), 400, /The scheme stays the same/)
  })

  test('a version whose verify token is gone needs it again', async () => {
    const { id } = await aWebhook(world, { handshake: { kind: 'url_verification', verify_token: 't' } })
    await world.admin('PATCH', `webhooks/${id}`, { handshake: { kind: 'none' } })
    assertRefused(await restore(id, 1), 400, /verify token that is no longer stored/)
    assertRefused(await restore(id, 2, { verify_token: 't' }), 400, /takes no token/)
    assert.deepEqual((await restore(id, 1, { verify_token: 't' })).body.webhook.handshake, {
      kind: 'url_verification',
      has_verify_token: true,
    })
  })

  test('a slug that another endpoint has taken meanwhile is refused', async () => {
    const { id, slug } = await aWebhook(world)
    await world.admin('PATCH', `webhooks/${id}`, { slug: `${slug}-b` })
    await aWebhook(world, { slug })
    assert.equal((await restore(id, 1)).body.reason, 'slug_taken')
  })

  test('the newest 100 are kept and listed page by page; a version that is gone or none answers 404', async () => {
    const { id } = await aWebhook(world)
    for (let count = 0; count < 102; count += 1)
      await world.admin('PATCH', `webhooks/${id}`, { enabled: count % 2 === 1 })
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body }: Answer = await world.admin(
        'GET',
        `webhooks/${id}/versions?limit=30${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...body.versions.map(({ version }: { version: number }) => version))
      cursor = body.next_cursor
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 100 }, (_none, index) => 103 - index),
    )
    for (const version of ['3', '0', '104', '-1', 'x', '1.5', '99999999999']) {
      assert.equal((await world.admin('GET', `webhooks/${id}/versions/${version}`)).status, 404, version)
      assert.equal((await world.admin('POST', `webhooks/${id}/versions/${version}/restore`)).status, 404, version)
    }
    assertRefused(await world.admin('GET', `webhooks/${id}/versions?cursor=x`), 400, /cursor/)
  })

  test('versions end with their endpoint', async () => {
    const { id } = await aWebhook(world)
    await world.admin('DELETE', `webhooks/${id}`)
    assert.equal((await world.admin('GET', `webhooks/${id}/versions`)).status, 404)
    assert.equal((await world.admin('GET', `webhooks/${id}/versions/1`)).status, 404)
  })
})
