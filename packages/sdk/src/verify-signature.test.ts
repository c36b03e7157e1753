import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { signDelivery } from '../../server/src/domain/signature/index.ts'
import { SignatureError, verifySignature, type SignatureReason, type SignedRequest } from './verify-signature.ts'

type Vector = {
  readonly surface?: string
  readonly secret: string
  readonly now: number
  readonly body: string
  readonly headers: Record<string, string>
}

const vectors = JSON.parse(
  readFileSync(new URL('../../verify/test/vectors/signatures.json', import.meta.url), 'utf8'),
) as readonly Vector[]
const outbound = vectors.find(({ surface }) => surface === 'outbound')
assert.ok(outbound)
const { secret, body, headers } = outbound
const now = outbound.now * 1_000
const OWN = ['Service-Signature']
const STANDARD = ['webhook-id', 'webhook-timestamp', 'webhook-signature']

const only = (names: readonly string[]) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)))
const refused = (request: SignedRequest, reason: SignatureReason) =>
  assert.rejects(verifySignature(request), (error) => error instanceof SignatureError && error.reason === reason)

test('verifySignature accepts a delivery with either signature, and returns its event', async () => {
  for (const names of [OWN, STANDARD, [...OWN, ...STANDARD]]) {
    const event = await verifySignature({ body, headers: only(names), secret, now })
    assert.deepEqual(event, JSON.parse(body))
  }
})

test('verifySignature takes Headers, those of Node, or names in any case, and a body of text or bytes', async () => {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const bytes = new TextEncoder().encode(body)
  await verifySignature({ body: bytes, headers: new Headers(headers), secret, now })
  await verifySignature({ body: Buffer.from(body), headers: lower, secret, now })
  await verifySignature({
    body: bytes.buffer,
    headers: { 'SERVICE-SIGNATURE': [headers['Service-Signature'] ?? ''] },
    secret,
    now,
  })
})

test('verifySignature refuses another body, another secret or another id', async () => {
  for (const names of [OWN, STANDARD]) {
    await refused({ body: body.replace('42', '43'), headers: only(names), secret, now }, 'bad_signature')
    await refused(
      { body, headers: only(names), secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', now },
      'bad_signature',
    )
  }
  await refused({ body, headers: { ...only(STANDARD), 'webhook-id': 'rec_other' }, secret, now }, 'bad_signature')
})

test('verifySignature refuses a request without a signature, or with half of one', async () => {
  await refused({ body, headers: {}, secret, now }, 'missing_header')
  await refused({ body, headers: only(['webhook-id', 'webhook-signature']), secret, now }, 'missing_header')
})

test('verifySignature refuses a malformed signature before it tries any key', async () => {
  for (const value of [
    '',
    'v1=00',
    't=1',
    't=1,t=2,v1=00',
    't=x,v1=00',
    't=1,v0=00',
    't=1700000000,v1=zz',
    't=1700000000,v1=',
  ]) {
    await refused({ body, headers: { 'service-signature': value }, secret, now }, 'bad_signature')
  }
  for (const value of ['', 'v2,AAAA', 'v1,', 'v1,%%%', 'v1a,AAAA']) {
    await refused({ body, headers: { ...only(STANDARD), 'webhook-signature': value }, secret, now }, 'bad_signature')
  }
})

test('a sender cannot move the border between id, time and body', async () => {
  const text = '1700000000.{"id":"rec_1","dataset":"d","received_at":"","data":1}'
  const signed = signDelivery({ secrets: [secret], id: 'rec_1', body: text, timestampSeconds: 1, header: 'standard' })
  const moved = { ...signed, 'webhook-id': 'rec_1.1', 'webhook-timestamp': '1700000000' }
  await refused({ body: text.slice(11), headers: moved, secret, now }, 'bad_signature')
})

test('the signed time can differ by 300 s in both directions, or by as much as the receiver allows', async () => {
  for (const names of [OWN, STANDARD]) {
    for (const away of [-300, 300])
      await verifySignature({ body, headers: only(names), secret, now: now + away * 1_000 })
    for (const away of [-301, 301])
      await refused({ body, headers: only(names), secret, now: now + away * 1_000 }, 'stale_timestamp')
  }
  await verifySignature({ body, headers, secret, now: now + 3_600_000, toleranceSeconds: 3_600 })
  await refused({ body, headers, secret, now: now + 10_000, toleranceSeconds: 5 }, 'stale_timestamp')
  await refused({ body, headers, secret }, 'stale_timestamp')
})

test('a forged signature does not reveal whether its time is right', async () => {
  await refused({ body, headers: { 'service-signature': `t=1,v1=${'0'.repeat(64)}` }, secret, now }, 'bad_signature')
})

test('verifySignature refuses a signed body that is not a delivery', async () => {
  for (const text of ['', 'hello', '[]', 'null', '{"id":"rec_1"}']) {
    const signed = signDelivery({
      secrets: [secret],
      id: 'x',
      body: text,
      timestampSeconds: now / 1_000,
      header: 'both',
    })
    await refused({ body: text, headers: signed, secret, now }, 'invalid_body')
  }
})

test('an impossible secret is a mistake of the caller, and never passes', async () => {
  await assert.rejects(verifySignature({ body, headers, secret: '', now }), TypeError)
  await assert.rejects(verifySignature({ body, headers, secrets: [], now }), TypeError)
  await assert.rejects(verifySignature({ body, headers: only(STANDARD), secret: 'whsec_%', now }), TypeError)
})

test('verifySignature accepts a signature of the server, and during a rotation with the old and the new secret', async () => {
  const aSecret = fc
    .uint8Array({ minLength: 24, maxLength: 32 })
    .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`)
  await fc.assert(
    fc.asyncProperty(
      fc.jsonValue(),
      fc.tuple(aSecret, aSecret),
      fc.constantFrom('both', 'service', 'standard'),
      async (data, [fresh, previous], header) => {
        const text = JSON.stringify({ id: 'rec_1', dataset: 'events', received_at: '2026-01-15T12:00:00.000Z', data })
        const signed = signDelivery({
          secrets: [fresh, previous],
          id: 'rec_1',
          body: text,
          timestampSeconds: now / 1_000,
          header,
        })
        for (const one of [fresh, previous])
          assert.equal((await verifySignature({ body: text, headers: signed, secret: one, now })).id, 'rec_1')
        await verifySignature({ body: text, headers: signed, secrets: ['whsec_AAAA', fresh], now })
      },
    ),
    { numRuns: 50 },
  )
})
