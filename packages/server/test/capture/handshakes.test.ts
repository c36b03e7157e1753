import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import type { SourcePreset } from '@postroad/contract'
import { aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The handshakes that providers send as a POST, signed as each provider signs. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const countOf = async ({ id }: { id: string }): Promise<number> =>
  (await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions.length

async function ofPreset(id: string, secret: string) {
  const { body } = await world.admin('GET', 'source-presets')
  const presets: readonly SourcePreset[] = body.source_presets
  const { settings } = presets.find((preset) => preset.id === id) ?? assert.fail()
  return aWebhook(world, { ...settings, verification: { ...settings.verification, secret } })
}

type Reply = { readonly status: number; readonly type: string | null; readonly text: string }

async function ask(url: string, body: string, headers: Record<string, string>): Promise<Reply> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

const nowSeconds = (): string => String(Math.floor(world.clock.wall() / 1_000))
const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex')

describe('Discord', () => {
  const KEY = generateKeyPairSync('ed25519')
  const SECRET = KEY.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex')
  const headersOf = (body: string, time = nowSeconds()): Record<string, string> => ({
    'X-Signature-Timestamp': time,
    'X-Signature-Ed25519': sign(null, Buffer.from(time + body), KEY.privateKey).toString('hex'),
  })

  test('the PING of webhook events gets 204 without a body, and that of interactions gets its type back', async () => {
    const webhook = await ofPreset('discord', SECRET)
    const events = '{"version":1,"application_id":"1","type":0}'
    assert.deepEqual(await ask(webhook.public_url, events, headersOf(events)), {
      status: 204,
      type: 'application/json',
      text: '',
    })
    const interactions = '{"version":1,"application_id":"1","type":1,"token":"t"}'
    assert.deepEqual(await ask(webhook.public_url, interactions, headersOf(interactions)), {
      status: 200,
      type: 'application/json',
      text: '{"type":1}',
    })
    assert.equal(await countOf(webhook), 0)
  })

  test('an event is stored, and a PING with a wrong signature is refused', async () => {
    const webhook = await ofPreset('discord', SECRET)
    const event = '{"version":1,"application_id":"1","type":1,"event":{"type":"ENTITLEMENT_CREATE"}}'
    assert.equal((await ask(webhook.public_url, event, headersOf(event))).status, 204)
    const ping = '{"type":0}'
    assert.equal((await ask(webhook.public_url, ping, headersOf('{"type":1}'))).status, 401)
    assert.equal(await countOf(webhook), 1)
  })
})

describe('Zoom', () => {
  const SECRET = 'a-zoom-secret-token'
  const headersOf = (body: string, secret = SECRET): Record<string, string> => ({
    'x-zm-request-timestamp': nowSeconds(),
    'x-zm-signature': `v0=${hmac(secret, `v0:${nowSeconds()}:${body}`)}`,
  })
  const ASKED = '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"},"event_ts":1}'

  test('the validation gets the token and its HMAC with the secret of the endpoint', async () => {
    const webhook = await ofPreset('zoom', SECRET)
    const { status, text } = await ask(webhook.public_url, ASKED, headersOf(ASKED))
    assert.deepEqual(
      [status, JSON.parse(text)],
      [200, { plainToken: 'qgg8vlvZRS6UYooatFL8Aw', encryptedToken: hmac(SECRET, 'qgg8vlvZRS6UYooatFL8Aw') }],
    )
    assert.equal((await ask(webhook.public_url, ASKED, headersOf(ASKED, 'another'))).status, 401)
    assert.equal(await countOf(webhook), 0)
    const event = '{"event":"meeting.started","payload":{}}'
    assert.equal((await ask(webhook.public_url, event, headersOf(event))).status, 200)
    assert.equal(await countOf(webhook), 1)
  })

  test('an endpoint without a secret cannot answer, and a token that is not short text is refused', async () => {
    const open = await aWebhook(world, { handshake: { kind: 'zoom_validation' } })
    const refused = await post(open.public_url, ASKED)
    assert.deepEqual([refused.status, refused.body.reason], [403, 'handshake_failed'])
    assert.match(refused.body.error, /verification secret/)
    const webhook = await ofPreset('zoom', SECRET)
    for (const payload of ['{}', '{"plainToken":""}', `{"plainToken":"${'a'.repeat(2_049)}"}`, '"text"']) {
      const body = `{"event":"endpoint.url_validation","payload":${payload}}`
      const answer: Answer = await post(webhook.public_url, body, { headers: headersOf(body) })
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_challenge'], payload)
    }
  })
})

describe('Twitch', () => {
  const SECRET = 'a-twitch-secret'
  const headersOf = (body: string, type: string): Record<string, string> => {
    const [id, time] = ['befa7b53-d79d-478f-86b9-120f112b044e', new Date(world.clock.wall()).toISOString()]
    const nanoseconds = time.replace('Z', '123456Z')
    return {
      'Twitch-Eventsub-Message-Id': id,
      'Twitch-Eventsub-Message-Timestamp': nanoseconds,
      'Twitch-Eventsub-Message-Type': type,
      'Twitch-Eventsub-Message-Signature': `sha256=${hmac(SECRET, id + nanoseconds + body)}`,
    }
  }

  test('the challenge is returned as text, and a notification is stored', async () => {
    const webhook = await ofPreset('twitch', SECRET)
    const asked = '{"challenge":"pogchamp-kappa-360noscope-vohiyo","subscription":{"type":"channel.follow"}}'
    assert.deepEqual(await ask(webhook.public_url, asked, headersOf(asked, 'webhook_callback_verification')), {
      status: 200,
      type: 'text/plain; charset=utf-8',
      text: 'pogchamp-kappa-360noscope-vohiyo',
    })
    assert.equal(await countOf(webhook), 0)
    const event = '{"subscription":{"type":"channel.follow"},"event":{}}'
    const headers = headersOf(event, 'notification')
    assert.equal((await ask(webhook.public_url, event, headers)).status, 201)
    assert.equal((await ask(webhook.public_url, event, headers)).status, 200)
    assert.equal((await ask(webhook.public_url, `${event} `, headers)).status, 401)
  })
})

test('an endpoint can change to a handshake without a verify token, and a token with it is refused', async () => {
  const webhook = await aWebhook(world)
  const refused = await world.admin('PATCH', `webhooks/${webhook.id}`, {
    handshake: { kind: 'discord_ping', verify_token: 'x' },
  })
  assert.equal(refused.status, 400)
  const { status, body } = await world.admin('PATCH', `webhooks/${webhook.id}`, {
    handshake: { kind: 'discord_ping' },
  })
  assert.deepEqual([status, body.webhook.handshake], [200, { kind: 'discord_ping', has_verify_token: false }])
})
