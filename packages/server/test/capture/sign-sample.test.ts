import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { SECRET, SENDERS } from '../stage/signed-requests.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * `POST webhooks/{id}/sign-sample`: the server signs, so that a person can send an event to an endpoint that verifies.
 */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const BODY = '{"name":"Zoë","total":1.50}'
const signed = (id: string, body: object): Promise<Answer> => world.admin('POST', `webhooks/${id}/sign-sample`, body)

describe('an endpoint accepts a request that the server signed for it', () => {
  for (const [name, { settings }] of Object.entries(SENDERS)) {
    test(name, async () => {
      const { id, public_url } = await aWebhook(world, { verification: { ...settings, secret: SECRET } })
      const { status, body } = await signed(id, { body: BODY })
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal((await post(public_url, BODY, { headers: body.headers })).status, 201)
      assert.equal((await post(public_url, `${BODY} `, { headers: body.headers })).status, 401)
      assert.ok(!JSON.stringify(body).includes(SECRET))
    })
  }
})

test('a signature over the URL covers the query string that will be sent', async () => {
  const verification = { scheme: 'custom_hmac', signed: '{url}{body}', secret: SECRET }
  const { id, public_url } = await aWebhook(world, { verification })
  const { body } = await signed(id, { body: BODY, query: 'tenant=acme' })
  assert.equal((await post(`${public_url}?tenant=acme`, BODY, { headers: body.headers })).status, 201)
  assert.equal((await post(public_url, BODY, { headers: body.headers })).status, 401)
})

test('bytes that are not text are signed from base64', async () => {
  const { id, public_url } = await aWebhook(world, { verification: { scheme: 'code_host', secret: SECRET } })
  const bytes = new TextEncoder().encode('{"a":1}')
  const { body } = await signed(id, { body_base64: Buffer.from(bytes).toString('base64') })
  assert.equal((await post(public_url, bytes, { headers: body.headers })).status, 201)
  assert.equal((await signed(id, { body: 'a', body_base64: 'YQ==' })).status, 400)
})

test('a signature with a timestamp states until when it is accepted', async () => {
  const verification = { scheme: 'payments_provider', secret: SECRET, tolerance_seconds: 60 }
  const { id, public_url } = await aWebhook(world, { verification })
  const { body } = await signed(id, { body: '{}' })
  assert.equal(Date.parse(body.expires_at) - world.clock.wall(), 60_000)
  world.clock.advance(62_000)
  assert.equal((await post(public_url, '{}', { headers: body.headers })).body.reason, 'stale_timestamp')
})

test('an endpoint that verifies nothing needs no headers, and the server cannot sign for an endpoint without its secret', async () => {
  const open = await aWebhook(world)
  assert.deepEqual((await signed(open.id, { body: '{}' })).body, { scheme: 'none', headers: {}, expires_at: null })
  const bare = await aWebhook(world, { verification: { scheme: 'code_host', without_secret: true } })
  const refused = await signed(bare.id, { body: '{}' })
  assert.deepEqual([refused.status, refused.body.reason], [409, 'invalid_state'])
})

test('each signature has an audit row, which names the endpoint and contains nothing of the body', async () => {
  const { id } = await aWebhook(world, { verification: { scheme: 'code_host', secret: SECRET } })
  await signed(id, { body: '{"of":"the payload"}' })
  const { body } = await world.admin('GET', 'audit?action=sign_sample_request')
  assert.deepEqual([body.audit[0].target, body.audit[0].details], [id, { scheme: 'code_host' }])
})
