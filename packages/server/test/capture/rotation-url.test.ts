import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import { aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { Meanwhile } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 3, rows "Endpoint URL": the rotation of the URL of an endpoint. Two nodes share one database. */
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

const rotate = (id: string, body?: object): Promise<Answer> => world.admin('POST', `webhooks/${id}/rotate`, body)
const restOf = (of: object, without: readonly string[]): object =>
  Object.fromEntries(Object.entries(of).filter(([member]) => !without.includes(member)))
const credentialRows = async (): Promise<string> =>
  (await database.one<{ rows: string }>(sql`select string_agg(t::text, ',' order by hash) as rows from credentials t`))
    .rows

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

describe('the URL of an endpoint', () => {
  test('after a rotation the new URL works immediately and the old URL until its deadline; then it gets 404 on every node, without a write', async () => {
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
    await world.idle()
    later(2 * HOUR_MS - 1)
    for (const node of [world, second]) {
      assert.equal(await statusAt(body.public_url, {}, node), '201')
      assert.equal(await statusAt(webhook.public_url, {}, node), '201')
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

  test('the overlap is 24 hours by default', async () => {
    const { id } = await aWebhook(world)
    assert.equal((await rotate(id)).body.previous_url_expires_at, inHours(24))
    assert.equal((await rotate(id, {})).body.previous_url_expires_at, inHours(24))
  })

  test('with overlap 0 the old URL ends immediately on every node, and the previous pair is null', async () => {
    const webhook = await aWebhook(world)
    assert.equal(await statusAt(webhook.public_url, {}, second), '201')
    const { body } = await rotate(webhook.id, { overlap_hours: 0 })
    assert.deepEqual([body.previous_public_url, body.previous_url_expires_at], [null, null])
    assert.equal(await statusAt(webhook.public_url), '404 endpoint_not_found')
    assert.equal(await statusAt(body.public_url), '201')
    await world.idle()
    assert.equal(await statusAt(webhook.public_url, {}, second), '404 endpoint_not_found')
  })

  test('a second rotation inside the overlap immediately ends the older URL on every node; only one previous URL is retained', async () => {
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
    await world.idle()
    assert.equal(await statusAt(first.public_url, {}, second), '404 endpoint_not_found')
    const { body: last } = await rotate(first.id, { overlap_hours: 0 })
    assert.deepEqual(await Promise.all([middle, newest, last].map(({ public_url }) => statusAt(public_url))), [
      '404 endpoint_not_found',
      '404 endpoint_not_found',
      '201',
    ])
  })

  test('id, dataset, settings and history stay the same', async () => {
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

  test('a rotation is audited as rotate_webhook_url with the overlap and the deadline, without a slug', async () => {
    const webhook = await aWebhook(world)
    const { body } = await rotate(webhook.id, { overlap_hours: 3 })
    const { action, details, row } = await lastAudit(webhook.id)
    assert.deepEqual(
      [action, JSON.parse(details)],
      [
        'rotate_webhook_url',
        {
          overlap_hours: 3,
          previous_url_expires_at: inHours(3),
          before: { previous_url_expires_at: null },
          after: { previous_url_expires_at: inHours(3) },
        },
      ],
    )
    for (const slug of [webhook.webhook_slug, body.webhook_slug]) assert.ok(!row.includes(slug))
    await rotate(webhook.id, { overlap_hours: 0 })
    assert.deepEqual(JSON.parse((await lastAudit(webhook.id)).details), {
      overlap_hours: 0,
      previous_url_expires_at: null,
      before: { previous_url_expires_at: inHours(3) },
      after: { previous_url_expires_at: null },
    })
  })

  test('an overlap that is not a whole number from 0 to 720 is refused and changes nothing', async () => {
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

  test('after two simultaneous rotations one URL is current, one is previous, and no other works', async () => {
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

  test('upkeep deletes expired URLs, and no others', async () => {
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
