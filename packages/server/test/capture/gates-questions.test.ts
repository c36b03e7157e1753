import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Database } from '../../src/platform/db.ts'
import { aName, anIngestKey, aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { Meanwhile } from '../stage/meanwhile.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Requests that precede events: the preflight of a browser, and the handshake of a provider. */
let world: World
let database: Database

onWorldStage(
  (made) => {
    ;({ world, database } = made)
  },
  { loops: [] },
)

const SHOP = 'https://shop.example'
const countOf = async (webhook: { id: string }): Promise<number> =>
  (await world.admin('GET', `submissions?webhook_id=${webhook.id}`)).body.submissions.length

const preflight = (url: string, origin: string): Promise<Response> =>
  fetch(url, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' },
  })

describe('CORS', () => {
  test('a page of a listed origin may post and read the answer; a page of another origin gets 403 and reads nothing', async () => {
    const webhook = await aWebhook(world, { cors: { origins: [SHOP, 'http://localhost:3000'] } })
    assert.deepEqual(webhook.cors, { origins: [SHOP, 'http://localhost:3000'] })
    for (const origin of [SHOP, 'http://localhost:3000']) {
      const { status, headers } = await post(webhook.public_url, '{}', { headers: { origin } })
      assert.deepEqual(
        [status, headers.get('access-control-allow-origin'), headers.get('vary')],
        [201, origin, 'Origin'],
      )
      assert.match(headers.get('access-control-expose-headers') ?? '', /Retry-After/)
    }
    for (const origin of [
      'https://other.example',
      'http://shop.example',
      `${SHOP}.evil.example`,
      `${SHOP}:8443`,
      'null',
      `${SHOP}, ${SHOP}`,
      '',
    ]) {
      const { status, body, headers } = await post(webhook.public_url, '{}', { headers: { origin } })
      assert.deepEqual(
        [status, body.reason, headers.get('access-control-allow-origin')],
        [403, 'cors_origin_not_allowed', null],
        origin,
      )
    }
    assert.equal(await countOf(webhook), 2)
  })

  test('a server sends no Origin and may post whatever the list contains; without a list any page may post', async () => {
    const closed = await aWebhook(world, { cors: { origins: [] } })
    const answer = await post(closed.public_url, '{}')
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-origin')], [201, null])
    assert.equal((await post(closed.public_url, '{}', { headers: { origin: SHOP } })).status, 403)
    const open = await aWebhook(world)
    assert.equal(open.cors, null)
    const { status, headers } = await post(open.public_url, '{}', { headers: { origin: SHOP } })
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [201, '*'])
  })

  test('a page of an allowed origin may read refusals too', async () => {
    const webhook = await aWebhook(world, { enabled: false, cors: { origins: [SHOP] } })
    const { status, headers } = await post(webhook.public_url, '{}', { headers: { origin: SHOP } })
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [503, SHOP])
    const { headers: broken } = await post((await aWebhook(world)).public_url, '{', { headers: { origin: SHOP } })
    assert.equal(broken.get('access-control-allow-origin'), '*')
  })

  test('a preflight gets 204 with the allowed methods and headers for a listed origin, 403 for another and 404 for an unknown URL; it stores nothing', async () => {
    const slug = aName('page').replace(' ', '-')
    const webhook = await aWebhook(world, { slug, cors: { origins: [SHOP] } })
    const { key } = await anIngestKey(world)
    for (const url of [webhook.public_url, `${webhook.public_url}/d`, `${world.baseUrl}/v1/webhooks/${key}/${slug}`]) {
      const allowed = await preflight(url, SHOP)
      assert.equal(allowed.status, 204)
      assert.deepEqual(
        ['allow-origin', 'allow-methods', 'allow-headers', 'max-age'].map((name) =>
          allowed.headers.get(`access-control-${name}`),
        ),
        [SHOP, 'POST', 'Authorization, *', '600'],
      )
      assert.equal(allowed.headers.get('vary'), 'Origin')
      const refused = await preflight(url, 'https://other.example')
      assert.deepEqual(
        [refused.status, JSON.parse(await refused.text()).reason, refused.headers.get('access-control-allow-origin')],
        [403, 'cors_origin_not_allowed', null],
      )
    }
    for (const path of [key, `${key}/d`]) {
      const { status, headers } = await preflight(`${world.baseUrl}/v1/ingest/${path}`, SHOP)
      assert.deepEqual([status, headers.get('access-control-allow-origin')], [204, '*'])
    }
    assert.equal((await preflight(`${webhook.public_url}x`, SHOP)).status, 404)
    assert.equal(await countOf(webhook), 0)
  })

  test('origins are stored as browsers write them; an invalid origin is refused', async () => {
    const { cors, public_url } = await aWebhook(world, {
      cors: {
        origins: ['HTTPS://Shop.Example:443/', 'http://[::1]:80', 'https://bücher.example', 'chrome-extension://ABC'],
      },
    })
    assert.deepEqual(cors.origins, [SHOP, 'http://[::1]', 'https://xn--bcher-kva.example', 'chrome-extension://abc'])
    assert.equal((await post(public_url, '{}', { headers: { origin: SHOP } })).status, 201)
    for (const origin of [
      '*',
      'https://*.example',
      'shop.example',
      'https://shop.example/path',
      'https://a@b.example',
      'null',
      '',
      'https://',
      `https://${'a'.repeat(300)}`,
    ]) {
      const answer = await world.admin('POST', 'webhooks', { name: 'bad', cors: { origins: [origin] } })
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], origin)
    }
    const many = Array.from({ length: 65 }, (_none, index) => `https://${index}.example`)
    assert.equal((await world.admin('POST', 'webhooks', { name: 'many', cors: { origins: many } })).status, 400)
  })

  test('a PATCH replaces or removes the list', async () => {
    const { id, public_url } = await aWebhook(world, { cors: { origins: ['https://other.example'] } })
    const send = async (): Promise<number> => (await post(public_url, '{}', { headers: { origin: SHOP } })).status
    assert.equal(await send(), 403)
    await world.admin('PATCH', `webhooks/${id}`, { cors: { origins: [SHOP] } })
    assert.equal(await send(), 201)
    await world.admin('PATCH', `webhooks/${id}`, { cors: { origins: [] } })
    assert.equal(await send(), 403)
    assert.equal((await world.admin('PATCH', `webhooks/${id}`, { cors: null })).body.webhook.cors, null)
    assert.equal(await send(), 201)
  })
})

type Question = { readonly challenge?: string; readonly mode?: string; readonly token?: string }

/** GET …?hub.challenge=…&hub.mode=…&hub.verify_token=…; a parameter without a value is left out. */
async function ask(
  url: string,
  { challenge, mode, token }: Question,
): Promise<Pick<Answer, 'status' | 'headers'> & { text: string; reason: string | undefined }> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({
    'hub.challenge': challenge,
    'hub.mode': mode,
    'hub.verify_token': token,
  }))
    if (value !== undefined) query.set(name, value)
  const response = await fetch(`${url}?${query.toString()}`)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    reason: text.startsWith('{"error"') ? JSON.parse(text).reason : undefined,
  }
}

describe('hub_challenge', () => {
  const HUB = { handshake: { kind: 'hub_challenge', verify_token: 'tö ken&=+' } }
  const right = { challenge: '1158201444', mode: 'subscribe', token: 'tö ken&=+' }

  test('the server echoes the challenge verbatim as text/plain with nosniff, and stores and counts nothing', async () => {
    const webhook = await aWebhook(world, HUB)
    const metrics = async (): Promise<string> =>
      (await (await fetch(`${world.baseUrl}/metrics`)).text()).replaceAll(/^process.*$|^postroad_delivery.*$/gm, '')
    const counted = await metrics()
    for (const challenge of [
      '1158201444',
      'a',
      '<script>alert(1)</script>',
      ' a + b ',
      'ünï ☃ 😀',
      '%41',
      '\r\nX: y',
      'x'.repeat(2_048),
    ]) {
      const answer = await ask(webhook.public_url, { ...right, challenge })
      assert.deepEqual([answer.status, answer.text], [200, challenge])
      assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/)
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
      assert.match(answer.headers.get('request-id') ?? '', /^req_/)
    }
    assert.equal(await countOf(webhook), 0)
    assert.equal(await metrics(), counted)
  })

  test('a challenge has 1 to 2,048 characters; any other length gets 400', async () => {
    const { public_url } = await aWebhook(world, HUB)
    for (const challenge of ['', 'x'.repeat(2_049)]) {
      const answer = await ask(public_url, { ...right, challenge })
      assert.deepEqual([answer.status, answer.reason], [400, 'invalid_challenge'])
    }
  })

  test('a wrong or missing token, or a wrong or missing mode, gets 403 handshake_failed', async () => {
    const { public_url } = await aWebhook(world, HUB)
    const { token: _token, ...tokenless } = right
    const { mode: _mode, ...modeless } = right
    for (const question of [
      { ...right, token: 'other' },
      { ...right, token: '' },
      { ...right, token: `${right.token}x` },
      tokenless,
      { ...right, mode: 'unsubscribe' },
      modeless,
    ]) {
      const answer = await ask(public_url, question)
      assert.deepEqual([answer.status, answer.reason], [403, 'handshake_failed'])
      assert.ok(!answer.text.includes(right.challenge))
    }
  })

  test('an endpoint of another kind answers with the setting to change; an unknown endpoint gets 404', async () => {
    for (const handshake of [{ kind: 'none' }, { kind: 'url_verification', verify_token: right.token }]) {
      const { public_url } = await aWebhook(world, { handshake })
      const answer = await ask(public_url, right)
      assert.deepEqual([answer.status, answer.reason], [403, 'handshake_failed'])
      assert.match(answer.text, /hub_challenge/)
    }
    assert.deepEqual(
      [
        (await ask(`${world.endpoint}x`, right)).reason,
        (await ask(world.endpoint.replace('/main/', '/other/'), right)).reason,
      ],
      ['endpoint_not_found', 'endpoint_not_found'],
    )
  })

  test('a GET without hub.challenge, with a dataset or with an ingest key is not ingest', async () => {
    const { public_url } = await aWebhook(world, { ...HUB, enabled: false })
    const { key } = await anIngestKey(world)
    const { challenge: _challenge, ...none } = right
    for (const [url, question] of [
      [public_url, none],
      [public_url, {}],
      [`${public_url}/d`, right],
      [`${world.baseUrl}/v1/ingest/${key}`, right],
      [`${world.baseUrl}/admin/api/me`, right],
    ] as const) {
      const answer = await ask(url, question)
      assert.ok(
        !['endpoint_disabled', 'handshake_failed'].includes(answer.reason ?? '') && answer.status >= 400,
        `${url} ${answer.status}`,
      )
    }
  })

  test('the handshake comes after the checks of the disabled state and the IP allowlist', async () => {
    const off = await aWebhook(world, { ...HUB, enabled: false, ip_allowlist: ['203.0.113.7'] })
    assert.equal((await ask(off.public_url, right)).reason, 'endpoint_disabled')
    await world.admin('PATCH', `webhooks/${off.id}`, { enabled: true })
    assert.equal((await ask(off.public_url, right)).reason, 'ip_not_allowed')
    await world.admin('PATCH', `webhooks/${off.id}`, { ip_allowlist: [] })
    assert.equal((await ask(off.public_url, right)).text, right.challenge)
  })

  test('the handshake comes after the checks of the suspension and the burst limit', async () => {
    const { public_url } = await aWebhook(world, HUB)
    const meanwhile = new Meanwhile(world, database)
    assert.equal((await meanwhile.suspended(() => ask(public_url, right))).reason, 'workspace_suspended')
    await meanwhile.afterABurst(public_url, async () => {
      for (const question of [right, { ...right, token: 'other' }]) {
        const { status, reason, headers } = await ask(public_url, question)
        assert.deepEqual([status, reason, headers.get('retry-after')], [429, 'burst_limited', '1'])
      }
      world.clock.advance(10_000)
      assert.equal((await ask(public_url, right)).text, right.challenge)
    })
  })

  test('the token is write-only: it is required to turn the handshake on, stays when omitted, is replaced when sent, and is removed with the kind', async () => {
    const webhook = await aWebhook(world, HUB)
    assert.deepEqual(webhook.handshake, { kind: 'hub_challenge', has_verify_token: true })
    const patch = (handshake: object): Promise<Answer> => world.admin('PATCH', `webhooks/${webhook.id}`, { handshake })
    await patch({ kind: 'hub_challenge' })
    assert.equal((await ask(webhook.public_url, right)).status, 200)
    await patch({ kind: 'hub_challenge', verify_token: 'new' })
    assert.equal((await ask(webhook.public_url, right)).status, 403)
    assert.equal((await ask(webhook.public_url, { ...right, token: 'new' })).status, 200)
    assert.deepEqual((await patch({ kind: 'none' })).body.webhook.handshake, { kind: 'none' })
    const back = await patch({ kind: 'hub_challenge' })
    assert.deepEqual([back.status, back.body.reason], [400, 'invalid_request'])
    const bad = [
      { kind: 'hub_challenge' },
      { kind: 'hub_challenge', verify_token: '' },
      { kind: 'hub_challenge', verify_token: 'x'.repeat(513) },
      { kind: 'none', verify_token: 'x' },
      { kind: 'other' },
      {},
    ]
    for (const handshake of bad)
      assert.equal(
        (await world.admin('POST', 'webhooks', { name: 'bad', handshake })).status,
        400,
        JSON.stringify(handshake),
      )
    assert.equal(
      (
        await world.admin('POST', 'webhooks', {
          name: 'long',
          handshake: { kind: 'hub_challenge', verify_token: 'x'.repeat(512) },
        })
      ).status,
      201,
    )
  })

  test('no answer of the admin API contains the token', async () => {
    const secret = 'a-verify-token-nobody-shows'
    const { id } = await aWebhook(world, { handshake: { kind: 'hub_challenge', verify_token: secret } })
    for (const path of [`webhooks/${id}`, 'webhooks'])
      assert.ok(!JSON.stringify((await world.admin('GET', path)).body).includes(secret))
  })
})

const asks = (members: object = {}): string =>
  JSON.stringify({
    token: 'tok',
    challenge: '3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P',
    type: 'url_verification',
    ...members,
  })
const send = async (url: string, body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  const text = await response.text()
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text,
    reason: text.startsWith('{"error"') ? JSON.parse(text).reason : undefined,
  }
}

describe('url_verification', () => {
  test('the server answers a url_verification POST with the challenge and does not store it; it stores every other event', async () => {
    const webhook = await aWebhook(world, { handshake: { kind: 'url_verification' } })
    assert.deepEqual(webhook.handshake, { kind: 'url_verification', has_verify_token: false })
    const answer = await send(webhook.public_url, asks())
    assert.deepEqual([answer.status, answer.text], [200, JSON.parse(asks()).challenge])
    assert.match(answer.type, /^text\/plain/)
    assert.equal(await countOf(webhook), 0)
    for (const body of [asks({ type: 'event_callback' }), asks({ challenge: 5 }), '[]', 'null', '"url_verification"'])
      assert.equal((await send(webhook.public_url, body)).status, 201, body)
  })

  test('the handshake comes after the signature check: a sender that cannot sign gets no answer', async () => {
    const webhook = await aWebhook(world, {
      handshake: { kind: 'url_verification' },
      verification: { scheme: 'hmac', secret: 'k' },
    })
    assert.deepEqual((await send(webhook.public_url, asks())).reason, 'missing_header')
    const signature = createHmac('sha256', 'k').update(asks()).digest('hex')
    assert.equal((await send(webhook.public_url, asks(), { 'x-signature': signature })).status, 200)
  })

  test('with a verify token the member `token` must equal it; a challenge has 1 to 2,048 characters', async () => {
    const { public_url } = await aWebhook(world, { handshake: { kind: 'url_verification', verify_token: 'tok' } })
    assert.equal((await send(public_url, asks())).status, 200)
    for (const token of ['other', '', null, 5])
      assert.deepEqual((await send(public_url, asks({ token }))).reason, 'handshake_failed')
    for (const challenge of ['', 'x'.repeat(2_049)])
      assert.deepEqual((await send(public_url, asks({ challenge }))).reason, 'invalid_challenge')
  })

  test('an endpoint of another kind stores a url_verification POST like any event', async () => {
    for (const handshake of [{ kind: 'none' }, { kind: 'hub_challenge', verify_token: 'tok' }]) {
      const { public_url } = await aWebhook(world, { handshake })
      assert.equal((await send(public_url, asks())).status, 201)
    }
  })
})

const head = async (url: string): Promise<[number, string]> => {
  const response = await fetch(url, { method: 'HEAD' })
  return [response.status, await response.text()]
}

describe('a provider that checks a URL by HEAD before it sends events', () => {
  test('HEAD gets 200 without a body while the endpoint is enabled, 503 while it is disabled, and 404 for an unknown URL', async () => {
    const webhook = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
    const { key } = await anIngestKey(world)
    for (const url of [
      webhook.public_url,
      `${world.baseUrl}/v1/webhooks/${key}/${webhook.slug}`,
      `${world.baseUrl}/v1/ingest/${key}`,
    ])
      assert.deepEqual(await head(url), [200, ''], url)
    assert.deepEqual(await head(webhook.public_url.replace(/.$/, '')), [404, ''])
    assert.deepEqual(await head(`${world.baseUrl}/v1/ingest/ik_live_nobody`), [404, ''])
    await world.admin('PATCH', `webhooks/${webhook.id}`, { enabled: false })
    assert.deepEqual(await head(webhook.public_url), [503, ''])
  })

  test('HEAD is neither stored nor counted, also for a disabled endpoint', async () => {
    const webhook = await aWebhook(world, { enabled: false })
    await head(webhook.public_url)
    assert.equal((await post(webhook.public_url, '{}')).status, 503)
    await world.run('rejections.flush')
    const { rejections } = (await world.admin('GET', `rejections?webhook_id=${webhook.id}`)).body
    assert.deepEqual([rejections.length, rejections[0].method, rejections[0].count], [1, 'POST', 1])
    assert.equal(await countOf(webhook), 0)
  })
})
