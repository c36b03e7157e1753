import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { VerificationSettings } from '@postroad/contract'
import * as fc from 'fast-check'
import {
  base64,
  BODY,
  hex,
  lower,
  mac,
  NOW,
  SECRET,
  SENDERS,
  type Sender,
} from '../../server/test/stage/signed-requests.ts'
import { signDelivery, type SignatureFailure, verifyServiceSignature, verifySignature } from '../src/sync.ts'

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

const VECTORS = JSON.parse(readFileSync(new URL('./vectors/signatures.json', import.meta.url), 'utf8')) as Vector[]

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

  test('all 31 vectors are present', () => assert.equal(VECTORS.length, 31))
})

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

    test('a signed request passes, for any secret and any bytes', () => {
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
          // Hex in capitals is the same digest.
          if (text === inCapitals(good[header] ?? '', text)) continue
          assert.equal(check(sender, { headers: { ...good, [header]: text } }), 'bad_signature', `${header}: ${text}`)
        }
      }
    })

    test('a missing header is missing_header, and an empty or truncated one is bad_signature', () => {
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

    test('another secret is refused, and during an overlap the previous one passes too', () => {
      assert.equal(check(sender, { secrets: ['whsec_b3RoZXI='] }), 'bad_signature')
      assert.equal(check(sender, { secrets: ['whsec_b3RoZXI=', SECRET] }), 'ok')
    })

    test('without a stored secret everything is refused, even a missing header', () => {
      assert.equal(check(sender, { secrets: [] }), 'bad_signature')
      assert.equal(check(sender, { secrets: [], headers: {} }), 'bad_signature')
    })

    test('the detail never contains a digest', () => {
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

    test('the time may be 300 s off in either direction, and the signature is checked first', () => {
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

    test("the tolerance is the endpoint's", () => {
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

test('scheme none requires nothing', () => {
  assert.equal(
    verifySignature({ settings: { scheme: 'none' }, secrets: [], headers: {}, body: BODY, nowSeconds: NOW }),
    undefined,
  )
})

const wrong = '0'.repeat(64)

/** The good value with its digest in the case of another text: the same text when only the case of hex digits differs. */
function inCapitals(good: string, other: string): string {
  const [digest = ''] = /[0-9a-f]{40,64}$/.exec(good) ?? []
  const rest = good.length - digest.length
  return other.slice(rest).toLowerCase() === digest ? good.slice(0, rest) + other.slice(rest) : ''
}

test('hex is accepted in capitals and in lower case, in every scheme that uses it', () => {
  for (const name of ['payments_provider', 'code_host', 'chat_platform', 'hmac sha256 hex']) {
    const sender = SENDERS[name] as Sender
    const good = sender.sign(SECRET, BODY, NOW)
    for (const recase of [
      (text: string) => text.toUpperCase(),
      (text: string) => text.replace(/[a-f]/, (a) => a.toUpperCase()),
    ]) {
      const headers = Object.fromEntries(
        Object.entries(good).map(([header, value]) => [header, value.replace(/[0-9a-f]{40,64}/g, recase)]),
      )
      assert.notDeepEqual(headers, good)
      assert.equal(check(sender, { headers }), 'ok', name)
    }
  }
  const { 'Service-Signature': own = '' } = signDelivery({
    secrets: ['k'],
    id: 'rec_1',
    body: BODY,
    timestampSeconds: NOW,
    header: 'service',
  })
  const headers = { 'x-service-signature': own.replace(/[0-9a-f]{64}/, (digest) => digest.toUpperCase()) }
  assert.equal(verifyServiceSignature({ secrets: ['k'], headers, body: BODY, nowSeconds: NOW }), undefined)
})

const named = (from: object, name: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(from).map(([header, value]) => [header.replace('webhook-', `${name}-`), String(value)]),
  )

test('of two header sets, the complete one is read, whatever the other lacks', () => {
  const standard = SENDERS['standard_webhooks'] as Sender
  const good = standard.sign(SECRET, BODY, NOW)
  const broken: readonly object[] = [
    { 'webhook-signature': 'garbage' },
    { 'webhook-signature': '' },
    { ...good, 'webhook-signature': 'v2,x' },
    { ...good, 'webhook-timestamp': 'soon' },
    { ...good, 'webhook-id': 'a.b' },
    { 'webhook-signature': good['webhook-signature'] },
    { 'webhook-id': 'only' },
  ]
  for (const [own, other] of [
    ['webhook', 'svix'],
    ['svix', 'webhook'],
  ] as const) {
    for (const half of broken) {
      const headers = { ...named(half, own), ...named(good, other) }
      assert.equal(check(standard, { headers }), 'ok', JSON.stringify(headers))
      const forged = { ...headers, [`${other}-signature`]: `v1,${'A'.repeat(43)}=` }
      assert.equal(check(standard, { headers: forged }), 'bad_signature')
    }
  }
  assert.equal(check(standard, { headers: { 'svix-signature': 'x', 'webhook-signature': 'x' } }), 'missing_header')
  const payments = SENDERS['payments_provider'] as Sender
  const value = payments.sign(SECRET, BODY, NOW)['stripe-signature'] ?? ''
  for (const [own, other] of [
    ['stripe', 'payment'],
    ['payment', 'stripe'],
  ])
    assert.equal(check(payments, { headers: { [`${own}-signature`]: 'garbage', [`${other}-signature`]: value } }), 'ok')
})

test('one correct set of headers is enough, even with a second set that has another signature or an old time', () => {
  const standard = SENDERS['standard_webhooks'] as Sender
  const good = standard.sign(SECRET, BODY, NOW)
  const old = standard.sign(SECRET, BODY, NOW - 3_600)
  const wrongDigest = { ...good, 'webhook-signature': `v1,${'A'.repeat(43)}=` }
  for (const [own, other] of [
    ['webhook', 'svix'],
    ['svix', 'webhook'],
  ] as const) {
    for (const beside of [wrongDigest, old])
      assert.equal(check(standard, { headers: { ...named(beside, own), ...named(good, other) } }), 'ok')
    const oldBesideWrong = { ...named(wrongDigest, own), ...named(old, other) }
    assert.equal(check(standard, { headers: oldBesideWrong }), 'stale_timestamp')
    const twoWrong = { ...named(wrongDigest, own), ...named(wrongDigest, other) }
    assert.equal(check(standard, { headers: twoWrong }), 'bad_signature')
  }
})

test('payments_provider: every v1 is compared, unknown items are ignored, and a second t is malformed', () => {
  const sender = SENDERS['payments_provider'] as Sender
  const signed = sender.sign(SECRET, BODY, NOW)['stripe-signature'] ?? ''
  const [t = '', v1 = ''] = signed.split(',')
  const verdict = (value: string): string => check(sender, { headers: { 'stripe-signature': value } })
  assert.equal(verdict(`${t},v1=${wrong},${v1},v0=x,foo`), 'ok')
  assert.equal(verdict(`${v1}, ${t}`), 'ok')
  assert.equal(verdict(`${t}${`,v1=${wrong}`.repeat(100)},${v1}`), 'ok')
  for (const value of [
    t,
    v1,
    `${t},${t},${v1}`,
    `t=1,${signed}`,
    `${t},${v1.replace('v1', 'v0')}`,
    `${t},V1=${v1.slice(3)}`,
    'garbage',
    ',,,',
  ])
    assert.equal(verdict(value), 'bad_signature', value)
})

test('standard_webhooks: a dot in the id is malformed, other versions are ignored, every signature of every header is compared', () => {
  const sender = SENDERS['standard_webhooks'] as Sender
  const good = sender.sign(SECRET, BODY, NOW)
  const signature = good['webhook-signature'] ?? ''
  const verdict = (headers: object): string => check(sender, { headers: { ...good, ...headers } })
  const dotted = `v1,${mac(Buffer.from(SECRET.slice(6), 'base64'), [`a.b.${NOW}.`, BODY], base64)}`
  assert.equal(verdict({ 'webhook-id': 'a.b', 'webhook-signature': dotted }), 'bad_signature')
  assert.equal(verdict({ 'webhook-signature': `v2,x v1a,y ${signature}` }), 'ok')
  assert.equal(verdict({ 'webhook-signature': signature.replace('v1,', 'v2,') }), 'bad_signature')
  assert.equal(verdict({ 'webhook-signature': `${'v1,AAAA '.repeat(100)}${signature}` }), 'ok')
  for (const twoHeaders of [`${signature}, v1,AAAA`, `v1,AAAA, ${signature}`, `v1,AAAA v1,BBBB, ${signature}, v1,CCCC`])
    assert.equal(verdict({ 'webhook-signature': twoHeaders }), 'ok')
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

test('hmac: each item of a comma list is tried, the prefix is compared exactly, and hex may be in capitals', () => {
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
