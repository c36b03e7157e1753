import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { aWebhook, post, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Endpoints with schemes beyond the seven, from their creation to their stored requests. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const create = (verification: object): Promise<Answer> =>
  world.admin('POST', 'webhooks', { name: `Additive ${JSON.stringify(verification).length}`, verification })
const token = { scheme: 'static_token', header: 'X-Partner-Proof', secret: 'a token of ours' }

test('the header of a token is stored as dots, whatever its name', async () => {
  const { public_url } = await aWebhook(world, { verification: token })
  const headers = { 'x-partner-proof': token.secret, 'x-other': 'shown' }
  const { body } = await post(public_url, '{"a":1}', { headers })
  const stored = await submissionOf(world, body.id)
  assert.deepEqual([stored.headers['x-partner-proof'], stored.headers['x-other']], ['•••', 'shown'])
  assert.ok(!JSON.stringify(stored).includes(token.secret))
})

test('a secret that no request could match is refused when it is created, changed and rotated', async () => {
  const refused = await create({ scheme: 'basic_auth', secret: 'no colon' })
  assert.deepEqual(
    [refused.status, refused.body.error],
    [400, 'verification.secret: The secret of basic_auth is a user name, a colon and a password.'],
  )
  const { id } = await aWebhook(world, { verification: { scheme: 'basic_auth', secret: 'user:pass' } })
  for (const answer of [
    await world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'basic_auth', secret: 'none' } }),
    await world.admin('POST', `webhooks/${id}/rotate-verification-secret`, { secret: 'none' }),
  ])
    assert.deepEqual([answer.status, /a colon and a password/.test(answer.body.error)], [400, true])
  const minted = await world.admin('POST', `webhooks/${id}/rotate-verification-secret`, {})
  assert.equal(
    minted.body.error,
    'The scheme basic_auth needs the secret of the sender, so Postroad cannot generate one; send "secret".',
  )
})

test('a rotation keeps the previous token valid for its overlap', async () => {
  const { id, public_url } = await aWebhook(world, { verification: token })
  const { body } = await world.admin('POST', `webhooks/${id}/rotate-verification-secret`, {})
  const send = (proof: string): Promise<Answer> => post(public_url, '{}', { headers: { 'x-partner-proof': proof } })
  for (const proof of [token.secret, body.verification_secret]) assert.equal((await send(proof)).status, 201)
  assert.equal((await send('another')).status, 401)
})

test('a change that would leave inconsistent settings is refused, and the stored settings stay', async () => {
  const { id } = await aWebhook(world, {
    verification: {
      scheme: 'custom_hmac',
      signed: '{timestamp}.{body}',
      timestamp_header: 'X-Time',
      secret: 'hush',
    },
  })
  const patch = (more: object): Promise<Answer> =>
    world.admin('PATCH', `webhooks/${id}`, { verification: { scheme: 'custom_hmac', ...more } })
  const refused = await patch({ timestamp_header: null })
  assert.deepEqual(
    [refused.status, refused.body.error],
    [
      400,
      'verification: The signed content has {timestamp}; set "timestamp_header", "timestamp_item" or "timestamp_path".',
    ],
  )
  const { verification } = (await patch({ signed: '{timestamp}:{body}' })).body.webhook
  assert.deepEqual(
    [verification.signed, verification.timestamp_header, verification.has_secret],
    ['{timestamp}:{body}', 'X-Time', true],
  )
})

const signed = (url: string): Record<string, string> => ({
  'x-signature': createHmac('sha256', 'hush').update(`POST ${url} {}`).digest('hex'),
})

test('the URL that is signed is the one that was called, with its query', async () => {
  const { public_url } = await aWebhook(world, {
    verification: { scheme: 'custom_hmac', signed: '{method} {url} {body}', secret: 'hush' },
  })
  const called = `${public_url}?from=partner`
  assert.equal((await post(called, '{}', { headers: signed(called) })).status, 201)
  assert.equal((await post(called, '{}', { headers: signed(public_url) })).status, 401)
})
