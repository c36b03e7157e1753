import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { HANDSHAKE_FORMS, KNOWN_HANDSHAKES } from '@postroad/contract'
import { anIngestKey, aWebhook } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Handshakes that an endpoint describes itself: the question, its proof, and the answer. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const countOf = async ({ id }: { id: string }): Promise<number> =>
  (await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions.length

const QUERY = { when: { method: 'GET', query: 'challenge' }, answer: { body: '{{ query.challenge }}' } }
const BODY = {
  when: { method: 'POST', body_path: 'challenge' },
  answer: { content_type: 'application/json', body: '{"a":["{{ body.challenge }}!"],"n":1.50}' },
}

type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly reason: string | undefined
}

async function ask(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    reason: text.startsWith('{"error"') ? JSON.parse(text).reason : undefined,
  }
}

const send = (url: string, body: string, headers: Record<string, string> = {}): Promise<Reply> =>
  ask(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })
const signed = (secret: string, body: string): Record<string, string> => ({
  'x-signature': createHmac('sha256', secret).update(body).digest('hex'),
})

describe('the question', () => {
  test('a request that asks gets the answer, and is neither stored nor counted; any other is an event', async () => {
    const webhook = await aWebhook(world, { handshake: BODY })
    const counted = await (await fetch(`${world.baseUrl}/metrics`)).text()
    const { status, headers, text } = await send(webhook.public_url, '{"challenge":"c","more":1}')
    assert.deepEqual([status, headers.get('content-type'), text], [200, 'application/json', '{"a":["c!"],"n":1.50}'])
    const line = /^postroad_ingest.*$/gm
    assert.deepEqual((await (await fetch(`${world.baseUrl}/metrics`)).text()).match(line), counted.match(line))
    assert.equal(await countOf(webhook), 0)
    for (const body of ['{"challenge":5}', '{"challenge":null}', '{"other":"c"}', '[]', '"challenge"'])
      assert.equal((await send(webhook.public_url, body)).status, 201, body)
    assert.equal(await countOf(webhook), 5)
  })

  test('every condition must be true: a header, a parameter, a member with a value, and one that is absent', async () => {
    const { public_url: url } = await aWebhook(world, {
      handshake: {
        when: {
          header: { name: 'X-Type', equals: 'check' },
          query: ['mode', { name: 'v', equals: '1' }],
          body_path: [
            { path: 'type', equals: 1 },
            { path: 'ok', equals: true },
            { path: 'event', absent: true },
          ],
        },
        answer: { status: 202, body: 'yes' },
      },
    })
    const right = { query: '?mode=a&v=1', type: 'check', body: '{"type":1,"ok":true}' }
    const asked = async (part: Partial<typeof right>): Promise<number> => {
      const { query, type, body } = { ...right, ...part }
      return (await send(url + query, body, { 'x-type': type })).status
    }
    assert.equal(await asked({}), 202)
    for (const part of [
      { query: '?mode=a&v=2' },
      { query: '?v=1' },
      { type: 'other' },
      { body: '{"type":"1","ok":true}' },
      { body: '{"type":1,"ok":false}' },
      { body: '{"type":1,"ok":true,"event":null}' },
      { body: `{"type":1,"ok":true,"pad":"${'x'.repeat(16_384)}"}` },
    ])
      assert.equal(await asked(part), 201, JSON.stringify(part).slice(0, 80))
  })

  test('a person who opens the URL in a browser gets the page as before, and so does every GET that asks nothing', async () => {
    const { public_url: url } = await aWebhook(world, { handshake: QUERY })
    const { public_url: none } = await aWebhook(world)
    const page = { headers: { accept: 'text/html,application/xhtml+xml' } }
    const before = await ask(`${none}?challenge=c`, page)
    assert.notEqual(before.text, 'c')
    assert.deepEqual((await ask(`${url}?challenge=c`, page)).status, before.status)
    assert.equal((await ask(`${url}?challenge=c`)).text, 'c')
    for (const other of [url, `${url}?other=c`, `${url}/d?challenge=c`, `${none}?challenge=c`, `${url}x?challenge=c`]) {
      const { status, text } = await ask(other)
      assert.ok(status >= 400 && text !== 'c', `${other} ${status}`)
    }
  })

  test('a disabled endpoint and an address that is not allowed are refused before the question', async () => {
    const webhook = await aWebhook(world, { handshake: QUERY, enabled: false, ip_allowlist: ['203.0.113.7'] })
    const asked = async (): Promise<string | undefined> => (await ask(`${webhook.public_url}?challenge=c`)).reason
    assert.equal(await asked(), 'endpoint_disabled')
    await world.admin('PATCH', `webhooks/${webhook.id}`, { enabled: true })
    assert.equal(await asked(), 'ip_not_allowed')
  })
})

describe('the proof', () => {
  test('without a proof the answer comes before the signature check, and events are verified all the same', async () => {
    const webhook = await aWebhook(world, { handshake: BODY, verification: { scheme: 'hmac', secret: 'k' } })
    assert.equal((await send(webhook.public_url, '{"challenge":"c"}')).status, 200)
    assert.equal((await send(webhook.public_url, '{"id":1}')).reason, 'missing_header')
    assert.equal((await send(webhook.public_url, '{"id":1}', signed('k', '{"id":1}'))).status, 201)
  })

  test('with the proof "signature" only a signed question is answered, however long its body is', async () => {
    const webhook = await aWebhook(world, {
      handshake: { ...BODY, proof: { kind: 'signature' } },
      verification: { scheme: 'hmac', secret: 'k' },
    })
    const body = `{"pad":"${'x'.repeat(300_000)}","challenge":"c"}`
    assert.equal((await send(webhook.public_url, body)).reason, 'missing_header')
    assert.equal((await send(webhook.public_url, body, signed('k', body))).text, '{"a":["c!"],"n":1.50}')
    assert.equal(await countOf(webhook), 0)
  })

  test('with the proof "token" the named value must equal the verify token', async () => {
    const { public_url: url } = await aWebhook(world, {
      handshake: { ...QUERY, proof: { kind: 'token', header: 'X-Token' }, verify_token: 'tok' },
    })
    const asked = (token?: string): Promise<Reply> =>
      ask(`${url}?challenge=c`, token === undefined ? {} : { headers: { 'x-token': token } })
    assert.equal((await asked('tok')).text, 'c')
    for (const token of ['other', undefined]) assert.equal((await asked(token)).reason, 'handshake_failed')
  })

  test('the token is write-only; it stays while the kind has a use for it, and goes when it has none', async () => {
    const withToken = { ...QUERY, proof: { kind: 'token', query: 't' } }
    const { id, handshake } = await aWebhook(world, { handshake: { ...withToken, verify_token: 'canary-tok' } })
    assert.deepEqual(handshake, {
      kind: 'custom',
      has_verify_token: true,
      when: QUERY.when,
      proof: withToken.proof,
      answer: { status: 200, content_type: 'text/plain', headers: {}, body: '{{ query.challenge }}' },
    })
    const patch = async (sent: object): Promise<Answer> => world.admin('PATCH', `webhooks/${id}`, { handshake: sent })
    assert.equal((await patch(withToken)).body.webhook.handshake.has_verify_token, true)
    assert.equal((await patch(QUERY)).body.webhook.handshake.has_verify_token, false)
    const { status, body } = await patch(withToken)
    assert.deepEqual([status, body.reason], [400, 'invalid_request'])
    assert.match(body.error, /verify_token/)
    assert.ok(!JSON.stringify((await world.admin('GET', `webhooks/${id}`)).body).includes('canary'))
  })
})

describe('the answer', () => {
  test('a value of the question cannot leave its string in JSON', async () => {
    const { public_url: url } = await aWebhook(world, { handshake: BODY })
    const challenge = '"],"admin":true,"x":["\\\n\u2028</script>'
    const { text } = await send(url, JSON.stringify({ challenge }))
    assert.deepEqual(JSON.parse(text), { a: [`${challenge}!`], n: 1.5 })
  })

  test('no browser treats the answer as a page', async () => {
    const { public_url: url } = await aWebhook(world, { handshake: QUERY })
    const { headers, text } = await ask(`${url}?challenge=%3Cscript%3Ealert(1)%3C%2Fscript%3E`)
    assert.equal(text, '<script>alert(1)</script>')
    assert.deepEqual(
      ['content-type', 'x-content-type-options', 'content-security-policy', 'cache-control'].map((name) =>
        headers.get(name),
      ),
      ['text/plain; charset=utf-8', 'nosniff', "default-src 'none'; sandbox", 'no-store'],
    )
  })

  test('each value has 1 to 2,048 characters, and one for a header is printable ASCII', async () => {
    const { public_url: url } = await aWebhook(world, {
      handshake: { ...QUERY, answer: { headers: { 'X-Echo': '{{ query.challenge }}' } } },
    })
    const asked = (challenge: string): Promise<Reply> => ask(`${url}?challenge=${encodeURIComponent(challenge)}`)
    assert.equal((await asked('x'.repeat(2_048))).headers.get('x-echo'), 'x'.repeat(2_048))
    for (const challenge of ['', 'x'.repeat(2_049), 'a\r\nSet-Cookie: b=c', 'ü', '\0']) {
      const { status, reason, headers } = await asked(challenge)
      assert.deepEqual([status, reason, headers.get('set-cookie')], [400, 'invalid_challenge', null], challenge)
    }
  })

  test('a challenge that could be an event is not signed without a proof', async () => {
    const { public_url: url } = await aWebhook(world, {
      handshake: { ...QUERY, answer: { body: '{{ hmac_sha256 query.challenge }}' } },
      verification: { scheme: 'hmac', secret: 'k' },
    })
    const asked = (challenge: string): Promise<Reply> => ask(`${url}?challenge=${encodeURIComponent(challenge)}`)
    assert.equal((await asked('aZ09+/_-==')).text, createHmac('sha256', 'k').update('aZ09+/_-==').digest('hex'))
    for (const challenge of ['{"id":1}', '[1]', '"x"', 'v0:1:2', 'a.b', 'a&b', 'a=b', 'a b']) {
      const { status, reason } = await asked(challenge)
      assert.deepEqual([status, reason], [400, 'invalid_challenge'], challenge)
    }
  })

  test('an endpoint without a secret cannot sign an answer, and says so', async () => {
    const { public_url: url } = await aWebhook(world, {
      handshake: { ...QUERY, answer: { body: '{{ hmac_sha256 query.challenge }}' } },
    })
    const { status, reason, text } = await ask(`${url}?challenge=c`)
    assert.deepEqual([status, reason], [403, 'handshake_failed'])
    assert.match(text, /verification secret/)
  })
})

describe('the setting', () => {
  const REFUSED: readonly (readonly [sent: object, error: RegExp])[] = [
    [{ ...QUERY, kind: 'own' }, /The kind is one of none, .*, custom/],
    [{ answer: {} }, /when/],
    [{ when: { method: 'GET' }, answer: {} }, /place of the question/],
    [{ when: { method: 'PUT', query: 'a' }, answer: {} }, /POST, GET, OPTIONS/],
    [{ when: { method: 'GET', body_path: 'a' }, answer: {} }, /a GET has no body/],
    [{ when: { query: Array.from({ length: 9 }, () => 'a') }, answer: {} }, /at most 8/],
    [{ when: { header: 'a b' }, answer: {} }, /name of a request header/],
    [{ ...QUERY, proof: { kind: 'signature' } }, /must be POST/],
    [{ ...QUERY, proof: { kind: 'token' }, verify_token: 't' }, /place of the token/],
    [{ ...QUERY, proof: { kind: 'token', query: 't' } }, /verify_token is missing/],
    [{ ...QUERY, verify_token: 't' }, /has no use here/],
    [{ ...QUERY, answer: { status: 301 } }, /200, 201, 202, 204/],
    [{ ...QUERY, answer: { content_type: 'text/html', body: 'x' } }, /text\/plain, application\/json/],
    [{ ...QUERY, answer: { status: 204, body: 'x' } }, /must be empty/],
    [{ ...QUERY, answer: { body: 'x'.repeat(4_097) } }, /at most 4,096 bytes/],
    [{ ...QUERY, answer: { body: '{{ query.a' } }, /without its "}}"/],
    [{ ...QUERY, answer: { body: '{{ secret }}' } }, /none of/],
    [{ ...QUERY, answer: { body: '{{ verify_token }}' } }, /none of/],
    [{ ...QUERY, answer: { body: '{{ body.a }}' } }, /such a question has none/],
    [{ ...QUERY, answer: { content_type: 'application/json', body: '{"a":{{ query.a }}}' } }, /inside a string/],
    [{ ...QUERY, answer: { body: '{{ query.a }}'.repeat(17) } }, /at most 16/],
    ...[
      'Set-Cookie',
      'location',
      'Content-Length',
      'Transfer-Encoding',
      'Access-Control-Allow-Origin',
      'Connection',
      'content-encoding',
      'Strict-Transport-Security',
      'Content-Type',
      'X-Content-Type-Options',
    ].map((name) => [{ ...QUERY, answer: { headers: { [name]: 'x' } } }, /may not be part of the answer/] as const),
    [{ ...QUERY, answer: { headers: { 'a b': 'x' } } }, /name of a request header/],
  ]

  test('a form that cannot work is refused with the fault', async () => {
    for (const [handshake, error] of REFUSED) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await world.admin('POST', 'webhooks', { name: 'bad', handshake })
      assert.deepEqual([status, body.reason], [400, 'invalid_request'], JSON.stringify(handshake))
      assert.match(body.error, error)
    }
  })

  test('every kind, and every form of the list of providers, is a form that an endpoint takes', async () => {
    const forms = [...Object.values(HANDSHAKE_FORMS).flat(), ...KNOWN_HANDSHAKES.map(({ form }) => form)]
    assert.ok(forms.length > 15)
    for (const { when, proof, answer } of forms) {
      const needs =
        JSON.stringify([proof, answer]).includes('token"') || JSON.stringify(answer).includes('verify_token')
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await world.admin('POST', 'webhooks', {
        name: 'a form',
        handshake: { when, proof, answer, ...(needs && proof?.kind !== 'signature' ? { verify_token: 't' } : {}) },
      })
      assert.equal(status, 201, JSON.stringify([when, body]))
    }
  })

  test('a version has the form, and its restore answers again', async () => {
    const webhook = await aWebhook(world, { handshake: QUERY })
    await world.admin('PATCH', `webhooks/${webhook.id}`, { handshake: { kind: 'none' } })
    assert.ok((await ask(`${webhook.public_url}?challenge=c`)).status >= 400)
    const { body } = await world.admin('GET', `webhooks/${webhook.id}/versions/1`)
    assert.deepEqual(body.version.config.handshake, webhook.handshake)
    const restored = await world.admin('POST', `webhooks/${webhook.id}/versions/1/restore`, {})
    assert.deepEqual(restored.body.webhook.handshake, webhook.handshake)
    assert.equal((await ask(`${webhook.public_url}?challenge=c`)).text, 'c')
    const refused = await world.admin('POST', `webhooks/${webhook.id}/versions/1/restore`, { verify_token: 't' })
    assert.equal(refused.status, 400)
  })

  test('an event through an ingest key can be a question too', async () => {
    const { slug } = await aWebhook(world, { handshake: BODY })
    const { key } = await anIngestKey(world)
    assert.equal((await send(`${world.baseUrl}/v1/webhooks/${key}/${slug}`, '{"challenge":"c"}')).status, 200)
  })
})
