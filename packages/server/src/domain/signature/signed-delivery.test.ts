import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { lower, SECRET } from '../../../test/stage/signed-requests.ts'
import { signDelivery, verifySignature } from './index.ts'

describe('a delivery', () => {
  const previousSecret = `whsec_${Buffer.from('the previous secret').toString('base64')}`
  const now = Math.floor(Date.now() / 1000)
  const body = '{"id":"rec_1","dataset":"orders","data":{"name":"Zoë"}}'
  const headers = signDelivery({
    secrets: [SECRET, previousSecret],
    id: 'rec_1',
    body,
    timestampSeconds: now,
    header: 'both',
  })

  test('sends the requested headers, and none without a secret', () => {
    const base = { secrets: [SECRET], id: 'rec_1', body, timestampSeconds: now }
    assert.deepEqual(Object.keys(signDelivery({ ...base, header: 'service' })), ['Service-Signature'])
    assert.deepEqual(Object.keys(signDelivery({ ...base, header: 'standard' })), [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ])
    assert.deepEqual(signDelivery({ ...base, secrets: [], header: 'both' }), {})
  })

  test('contains a signature by each secret during an overlap', () => {
    assert.match(headers['Service-Signature'] ?? '', /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    assert.match(headers['webhook-signature'] ?? '', /^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/)
  })

  test('gets the same headers whether its body is text or bytes', () => {
    assert.deepEqual(
      signDelivery({
        secrets: [SECRET, previousSecret],
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
    ['previous', previousSecret],
  ] as const) {
    test(`verifies with the ${who} secret in the libraries that receivers use`, () => {
      const stripe = new Stripe('sk_test_x')
      assert.doesNotThrow(() => stripe.webhooks.constructEvent(body, headers['Service-Signature'] ?? '', secret))
      assert.doesNotThrow(() => new Webhook(secret).verify(body, headers))
      assert.doesNotThrow(() => new SvixWebhook(secret).verify(body, headers))
    })

    test(`verifies with the ${who} secret at another Postroad`, () => {
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

  test('a request that is signed by the libraries that senders use is accepted', () => {
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
