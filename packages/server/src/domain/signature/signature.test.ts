import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { VerificationSettings } from '@postroad/contract'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { signDelivery, type SignatureFailure, verifyServiceSignature, verifySignature } from './index.ts'

type Vector = {
  id: string
  scheme?: string
  surface?: 'ingest_key' | 'outbound'
  config?: object
  secret: string
  now?: number
  body: string
  headers: Record<string, string>
  expect: 'ok' | SignatureFailure['reason'] | 'bad_signature_or_missing'
}

const VECTORS = JSON.parse(
  readFileSync(new URL('../../../test/vectors/signatures.json', import.meta.url), 'utf8'),
) as Vector[]
const NOW = 1_700_000_000

const lower = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

describe('published vectors', () => {
  for (const vector of VECTORS) {
    test(vector.id, () => {
      if (vector.surface === 'outbound') {
        const { 'Service-Event-Id': id = '', ...signatures } = vector.headers
        assert.deepEqual(
          signDelivery({
            secrets: [vector.secret],
            id,
            body: vector.body,
            timestampSeconds: vector.now ?? 0,
            header: 'both',
          }),
          signatures,
        )
        return
      }
      const request = {
        secrets: [vector.secret],
        headers: lower(vector.headers),
        body: Buffer.from(vector.body),
        nowSeconds: vector.now ?? NOW,
      }
      const failure =
        vector.surface === 'ingest_key'
          ? verifyServiceSignature(request)
          : verifySignature({
              ...request,
              settings: VerificationSettings.parse({ scheme: vector.scheme, ...vector.config }),
            })
      const verdict = failure?.reason ?? 'ok'
      if (vector.expect === 'bad_signature_or_missing')
        assert.ok(verdict === 'bad_signature' || verdict === 'missing_header')
      else assert.equal(verdict, vector.expect)
    })
  }

  test('all 26 are there', () => assert.equal(VECTORS.length, 26))
})

/** How a sender signs, written down once more and apart from the code under test. */
type Sender = {
  readonly settings: object
  readonly names: readonly string[]
  readonly sign: (secret: string, body: Uint8Array, now: number) => Record<string, string>
}

const mac = (
  secret: string | Uint8Array,
  parts: readonly (string | Uint8Array)[],
  form: { encoding: 'hex' | 'base64'; algorithm?: string },
): string => {
  const hmac = createHmac(form.algorithm ?? 'sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest(form.encoding)
}
const hex = { encoding: 'hex' } as const
const base64 = { encoding: 'base64' } as const
const standard =
  (set: string) =>
  (secret: string, body: Uint8Array, now: number): Record<string, string> => ({
    [`${set}-id`]: 'msg_1',
    [`${set}-timestamp`]: String(now),
    [`${set}-signature`]: `v1,${mac(Buffer.from(secret.slice(6), 'base64'), [`msg_1.${now}.`, body], base64)}`,
  })

const SENDERS: Record<string, Sender> = {
  payments_provider: {
    settings: { scheme: 'payments_provider' },
    names: ['stripe-signature'],
    sign: (secret, body, now) => ({ 'stripe-signature': `t=${now},v1=${mac(secret, [`${now}.`, body], hex)}` }),
  },
  'payments_provider, neutral header': {
    settings: { scheme: 'payments_provider' },
    names: ['payment-signature'],
    sign: (secret, body, now) => ({ 'payment-signature': `t=${now},v1=${mac(secret, [`${now}.`, body], hex)}` }),
  },
  code_host: {
    settings: { scheme: 'code_host' },
    names: ['x-hub-signature-256'],
    sign: (secret, body) => ({ 'x-hub-signature-256': `sha256=${mac(secret, [body], hex)}` }),
  },
  commerce_platform: {
    settings: { scheme: 'commerce_platform' },
    names: ['x-shopify-hmac-sha256'],
    sign: (secret, body) => ({ 'x-shopify-hmac-sha256': mac(secret, [body], base64) }),
  },
  chat_platform: {
    settings: { scheme: 'chat_platform' },
    names: ['x-slack-signature', 'x-slack-request-timestamp'],
    sign: (secret, body, now) => ({
      'x-slack-request-timestamp': String(now),
      'x-slack-signature': `v0=${mac(secret, [`v0:${now}:`, body], hex)}`,
    }),
  },
  standard_webhooks: {
    settings: { scheme: 'standard_webhooks' },
    names: ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    sign: standard('webhook'),
  },
  'standard_webhooks, svix headers': {
    settings: { scheme: 'standard_webhooks' },
    names: ['svix-id', 'svix-timestamp', 'svix-signature'],
    sign: standard('svix'),
  },
  'hmac sha256 hex': {
    settings: { scheme: 'hmac' },
    names: ['x-signature'],
    sign: (secret, body) => ({ 'x-signature': mac(secret, [body], hex) }),
  },
  'hmac sha1 base64 with a prefix': {
    settings: { scheme: 'hmac', header: 'X-Own', algorithm: 'sha1', encoding: 'base64', prefix: 'sha1=' },
    names: ['x-own'],
    sign: (secret, body) => ({ 'x-own': `sha1=${mac(secret, [body], { encoding: 'base64', algorithm: 'sha1' })}` }),
  },
}

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ok!').toString('base64')}`
const BODY = Buffer.from('{"name":"Zoë","total":1.50}')

function check(
  sender: Sender,
  request: { secrets?: readonly string[]; headers?: Record<string, string>; body?: Uint8Array; now?: number },
): string {
  const headers = request.headers ?? sender.sign(SECRET, BODY, NOW)
  const settings = VerificationSettings.parse(sender.settings)
  const failure = verifySignature({
    settings,
    secrets: request.secrets ?? [SECRET],
    headers,
    body: request.body ?? BODY,
    nowSeconds: request.now ?? NOW,
  })
  return failure?.reason ?? 'ok'
}

for (const [name, sender] of Object.entries(SENDERS)) {
  describe(name, () => {
    const good = sender.sign(SECRET, BODY, NOW)
    const signatureHeader =
      sender.names.find((header) => header.includes('signature') || header.includes('hmac') || header === 'x-own') ?? ''

    test('what is signed passes, for any secret and any bytes', () => {
      const secret = fc
        .uint8Array({ minLength: 1, maxLength: 40 })
        .map((key) => `whsec_${Buffer.from(key).toString('base64')}`)
      fc.assert(
        fc.property(secret, fc.uint8Array(), (key, body) => {
          assert.equal(check(sender, { secrets: [key], headers: sender.sign(key, body, NOW), body }), 'ok')
        }),
        { numRuns: 50 },
      )
    })

    test('any flipped bit of the body is refused', () => {
      for (let bit = 0; bit < BODY.length * 8; bit += 1) {
        const body = Buffer.from(BODY)
        body[bit >> 3] = (body[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        assert.equal(check(sender, { body }), 'bad_signature')
      }
    })

    test('any flipped bit of a header is refused', () => {
      for (const header of sender.names) {
        const value = Buffer.from(good[header] ?? '')
        for (let bit = 0; bit < value.length * 8; bit += 1) {
          const flipped = Buffer.from(value)
          flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          const text = flipped.toString('latin1')
          // Hex in capitals is the same digest for the generic scheme.
          if (name === 'hmac sha256 hex' && text.toLowerCase() === good[header]) continue
          assert.equal(check(sender, { headers: { ...good, [header]: text } }), 'bad_signature', `${header}: ${text}`)
        }
      }
    })

    test('a missing header is missing_header, an empty or truncated one bad_signature', () => {
      for (const header of sender.names) {
        assert.equal(
          check(sender, { headers: Object.fromEntries(Object.entries(good).filter(([key]) => key !== header)) }),
          'missing_header',
        )
        assert.equal(check(sender, { headers: { ...good, [header]: '' } }), 'bad_signature')
        assert.equal(
          check(sender, { headers: { ...good, [header]: (good[header] ?? '').slice(0, -1) } }),
          'bad_signature',
        )
      }
    })

    test('another secret is refused; during an overlap the former one passes too', () => {
      assert.equal(check(sender, { secrets: ['whsec_b3RoZXI='] }), 'bad_signature')
      assert.equal(check(sender, { secrets: ['whsec_b3RoZXI=', SECRET] }), 'ok')
    })

    test('no secret held refuses everything, a missing header too', () => {
      assert.equal(check(sender, { secrets: [] }), 'bad_signature')
      assert.equal(check(sender, { secrets: [], headers: {} }), 'bad_signature')
    })

    test('the detail never holds a digest', () => {
      const settings = VerificationSettings.parse(sender.settings)
      const expected = good[signatureHeader]?.replace(/^.*(?:=(?=.{20})|,)/, '') ?? ''
      const failure = verifySignature({
        settings,
        secrets: [SECRET],
        headers: { ...good, [signatureHeader]: 'wrong' },
        body: BODY,
        nowSeconds: NOW,
      })
      assert.ok(failure !== undefined && expected.length >= 20 && !failure.detail.includes(expected.slice(0, 20)))
    })

    if (!('tolerance_seconds' in VerificationSettings.parse(sender.settings))) return

    test('the time may be 300 s off in both directions, and the signature is looked at first', () => {
      for (const [off, verdict] of [
        [300, 'ok'],
        [-300, 'ok'],
        [301, 'stale_timestamp'],
        [-301, 'stale_timestamp'],
      ] as const) {
        assert.equal(check(sender, { now: NOW + off }), verdict)
      }
      assert.equal(check(sender, { now: NOW + 301, secrets: ['whsec_b3RoZXI='] }), 'bad_signature')
    })

    test('the tolerance is the one of the endpoint', () => {
      const wide = { ...sender, settings: { ...sender.settings, tolerance_seconds: 86_400 } }
      assert.equal(check(wide, { now: NOW + 86_400 }), 'ok')
      assert.equal(check(wide, { now: NOW + 86_401 }), 'stale_timestamp')
    })

    test('a malformed time is bad_signature', () => {
      for (const time of [
        '-1',
        '1.5',
        '12345678901234567890',
        ' 1700000000',
        '1700000000 ',
        '+1',
        '1e9',
        '0x1',
        '',
        '١',
      ]) {
        const headers = Object.fromEntries(
          Object.entries(good).map(([key, value]) => [key, value.replace(String(NOW), time)]),
        )
        assert.equal(check(sender, { headers }), 'bad_signature', time)
      }
    })
  })
}

test('scheme none asks for nothing', () => {
  assert.equal(
    verifySignature({ settings: { scheme: 'none' }, secrets: [], headers: {}, body: BODY, nowSeconds: NOW }),
    undefined,
  )
})

const wrong = '0'.repeat(64)

test('payments_provider: every v1 is compared, 16 at most; unknown items are ignored; a second t is malformed', () => {
  const sender = SENDERS['payments_provider'] as Sender
  const signed = sender.sign(SECRET, BODY, NOW)['stripe-signature'] ?? ''
  const [t = '', v1 = ''] = signed.split(',')
  const verdict = (value: string): string => check(sender, { headers: { 'stripe-signature': value } })
  assert.equal(verdict(`${t},v1=${wrong},${v1},v0=x,foo`), 'ok')
  assert.equal(verdict(`${v1}, ${t}`), 'ok')
  assert.equal(verdict(`${t}${`,v1=${wrong}`.repeat(15)},${v1}`), 'ok')
  assert.equal(verdict(`${t}${`,v1=${wrong}`.repeat(16)},${v1}`), 'bad_signature')
  for (const value of [
    t,
    v1,
    `${t},${t},${v1}`,
    `t=1,${signed}`,
    `${t},${v1.replace('v1', 'v0')}`,
    `${t},v1=${v1.slice(3).toUpperCase()}`,
    'garbage',
    ',,,',
  ])
    assert.equal(verdict(value), 'bad_signature', value)
})

test('standard_webhooks: a dot in the id is malformed, other versions are ignored, 16 signatures at most', () => {
  const sender = SENDERS['standard_webhooks'] as Sender
  const good = sender.sign(SECRET, BODY, NOW)
  const signature = good['webhook-signature'] ?? ''
  const verdict = (headers: object): string => check(sender, { headers: { ...good, ...headers } })
  const dotted = `v1,${mac(Buffer.from(SECRET.slice(6), 'base64'), [`a.b.${NOW}.`, BODY], base64)}`
  assert.equal(verdict({ 'webhook-id': 'a.b', 'webhook-signature': dotted }), 'bad_signature')
  assert.equal(verdict({ 'webhook-signature': `v2,x v1a,y ${signature}` }), 'ok')
  assert.equal(verdict({ 'webhook-signature': signature.replace('v1,', 'v2,') }), 'bad_signature')
  assert.equal(verdict({ 'webhook-signature': `${'v1,AAAA '.repeat(15)}${signature}` }), 'ok')
  assert.equal(verdict({ 'webhook-signature': `${'v1,AAAA '.repeat(16)}${signature}` }), 'bad_signature')
})

test('standard_webhooks: a secret that is not base64 is its own bytes', () => {
  const sender = SENDERS['standard_webhooks'] as Sender
  const headers = {
    'webhook-id': 'm',
    'webhook-timestamp': String(NOW),
    'webhook-signature': `v1,${mac('my-own secret', [`m.${NOW}.`, BODY], base64)}`,
  }
  assert.equal(check(sender, { headers, secrets: ['my-own secret'] }), 'ok')
})

test('hmac: each item of a comma list is tried, the prefix is compared exactly, hex may be in capitals', () => {
  const settings = { scheme: 'hmac', header: 'X-Pager', prefix: 'v1=' }
  const digest = mac(SECRET, [BODY], hex)
  const verdict = (value: string, more: object = {}): string =>
    check({ settings: { ...settings, ...more }, names: [], sign: () => ({}) }, { headers: { 'x-pager': value } })
  assert.equal(verdict(`v1=${wrong}, v1=${digest}`), 'ok')
  assert.equal(verdict(`v1=${digest},v1=${wrong}`), 'ok')
  assert.equal(verdict(`v1=${digest.toUpperCase()}`), 'ok')
  assert.equal(verdict(`v1,${digest}`, { prefix: 'v1,' }), 'ok')
  for (const value of [digest, `V1=${digest}`, `v1= ${digest}`, `v2=${digest}`, `v1=${digest}0`, `v1=v1=${digest}`])
    assert.equal(verdict(value), 'bad_signature', value)
  assert.equal(verdict(digest, { header: 'Constructor' }), 'missing_header')
})

test('an ingest key: t and v1 in X-Service-Signature, 300 s in both directions, and never without a secret', () => {
  const headers = lower(
    signDelivery({ secrets: ['k'], id: 'rec_1', body: BODY, timestampSeconds: NOW, header: 'service' }),
  )
  const request = {
    secrets: ['k'],
    headers: { 'x-service-signature': headers['service-signature'] },
    body: BODY,
    nowSeconds: NOW,
  }
  assert.equal(verifyServiceSignature(request), undefined)
  assert.equal(verifyServiceSignature({ ...request, nowSeconds: NOW - 301 })?.reason, 'stale_timestamp')
  assert.equal(verifyServiceSignature({ ...request, secrets: ['other'] })?.reason, 'bad_signature')
  assert.equal(verifyServiceSignature({ ...request, secrets: [] })?.reason, 'bad_signature')
  assert.equal(verifyServiceSignature({ ...request, headers: {} })?.reason, 'missing_header')
})

describe('a delivery', () => {
  const formerSecret = `whsec_${Buffer.from('the former secret').toString('base64')}`
  const now = Math.floor(Date.now() / 1000)
  const body = '{"id":"rec_1","dataset":"orders","data":{"name":"Zoë"}}'
  const headers = signDelivery({
    secrets: [SECRET, formerSecret],
    id: 'rec_1',
    body,
    timestampSeconds: now,
    header: 'both',
  })

  test('sends the headers it is asked for, and none without a secret', () => {
    const base = { secrets: [SECRET], id: 'rec_1', body, timestampSeconds: now }
    assert.deepEqual(Object.keys(signDelivery({ ...base, header: 'service' })), ['Service-Signature'])
    assert.deepEqual(Object.keys(signDelivery({ ...base, header: 'standard' })), [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ])
    assert.deepEqual(signDelivery({ ...base, secrets: [], header: 'both' }), {})
  })

  test('holds a signature by each secret during an overlap', () => {
    assert.match(headers['Service-Signature'] ?? '', /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    assert.match(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/)
  })

  test('is the same whether the body is text or bytes', () => {
    assert.deepEqual(
      signDelivery({
        secrets: [SECRET, formerSecret],
        id: 'rec_1',
        body: Buffer.from(body),
        timestampSeconds: now,
        header: 'both',
      }),
      headers,
    )
  })

  for (const [who, secret] of [
    ['current', SECRET],
    ['former', formerSecret],
  ] as const) {
    test(`is accepted with the ${who} secret by the libraries receivers use`, () => {
      const stripe = new Stripe('sk_test_x')
      assert.doesNotThrow(() => stripe.webhooks.constructEvent(body, headers['Service-Signature'] ?? '', secret))
      assert.doesNotThrow(() => new Webhook(secret).verify(body, headers))
      assert.doesNotThrow(() => new SvixWebhook(secret).verify(body, headers))
    })

    test(`is accepted with the ${who} secret by another Postroad`, () => {
      const request = { secrets: [secret], body: Buffer.from(body), nowSeconds: now }
      const settings = { tolerance_seconds: 300 } as const
      const payments = { 'payment-signature': headers['Service-Signature'] }
      assert.equal(
        verifySignature({ ...request, headers: payments, settings: { scheme: 'payments_provider', ...settings } }),
        undefined,
      )
      assert.equal(
        verifySignature({
          ...request,
          headers: lower(headers),
          settings: { scheme: 'standard_webhooks', ...settings },
        }),
        undefined,
      )
    })
  }

  test('signed by the libraries senders use, a request is accepted', () => {
    const stripe = new Stripe('sk_test_x').webhooks.generateTestHeaderString({
      payload: body,
      secret: SECRET,
      timestamp: now,
    })
    const request = { secrets: [SECRET], body: Buffer.from(body), nowSeconds: now }
    assert.equal(
      verifySignature({
        ...request,
        headers: { 'stripe-signature': stripe },
        settings: { scheme: 'payments_provider', tolerance_seconds: 300 },
      }),
      undefined,
    )
    const signature = new Webhook(SECRET).sign('msg_1', new Date(now * 1000), body)
    const standardHeaders = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(now), 'webhook-signature': signature }
    assert.equal(
      verifySignature({
        ...request,
        headers: standardHeaders,
        settings: { scheme: 'standard_webhooks', tolerance_seconds: 300 },
      }),
      undefined,
    )
  })
})
