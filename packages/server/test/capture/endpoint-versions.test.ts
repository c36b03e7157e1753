import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { aWebhook, post } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The versions of an endpoint. Two nodes share one database. */
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

const lastAudit = (id: string): Promise<{ action: string; details: string; row: string }> =>
  database.one(
    sql`select action, details, a::text as row from audit_rows a where target = ${id} order by id desc limit 1`,
  )

function assertRefused(answer: Answer, status: number, text: RegExp): void {
  assert.equal(answer.status, status, JSON.stringify(answer.body))
  assert.match(answer.body.error, text)
}

describe('the versions of an endpoint', () => {
  test('every change of a setting creates a version with its author and the differences', async () => {
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
            'response',
            'body_as',
            'split',
            'idempotency',
            'customer',
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

  test('a request that changes no setting creates no version: the same values, a secret, a rotation', async () => {
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

  test('a version contains no secret and no URL', async () => {
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

  test('a restore applies every setting, creates a new version and is audited; the URL and the secret stay', async () => {
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
    const { restored, version, before: was, after: is } = JSON.parse(details)
    assert.deepEqual([action, restored, version], ['restore_webhook_version', 1, 3])
    assert.notDeepEqual(was, is)
    const headers = { 'x-signature': createHmac('sha256', 'k').update('{"a":1}').digest('base64') }
    assert.equal(await statusAt(webhook.public_url, headers), '201', 'it takes effect at once')
    await world.idle()
    assert.equal(await statusAt(webhook.public_url, headers, second), '201')
  })

  test('to restore a version with another scheme, the caller sends its secret or states that it comes later', async () => {
    const { id, public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
    await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'none' } })
    assertRefused(
      await restore(id, 1),
      400,
      /Version 1 verifies signatures of the scheme hmac, and its secret is no longer stored/,
    )
    assertRefused(await restore(id, 1, { secret: 'x', without_secret: true }), 400, /not both/)
    assertRefused(await restore(id, 2, { secret: 'x' }), 400, /does not verify signatures/)
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
    assertRefused(await restore(id, 1, { without_secret: true }), 400, /The scheme and its secret stay the same/)
  })

  test('to restore a version whose verify token is gone, the caller sends the token again', async () => {
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

  test('the newest 100 versions are retained and listed page by page; a deleted or unknown version gets 404', async () => {
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

  test('versions are deleted with their endpoint', async () => {
    const { id } = await aWebhook(world)
    await world.admin('DELETE', `webhooks/${id}`)
    assert.equal((await world.admin('GET', `webhooks/${id}/versions`)).status, 404)
    assert.equal((await world.admin('GET', `webhooks/${id}/versions/1`)).status, 404)
  })
})
