import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sign as signAsGithub } from '@octokit/webhooks-methods'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { aDestination, aWebhook, filedText, post, submissionOf } from '../stage/fixtures.ts'
import type { Answer, Received, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Senders and receivers of third parties: their libraries sign events that Postroad accepts, and verify its deliveries.
 * The libraries that verify a delivery read the clock of this machine, so the clock of the test is set to it.
 */
let world: World
let sink: Sink
let signingSecret: string

const NOW = Math.floor(Date.now() / 1_000) * 1_000
const SECONDS = NOW / 1_000

onWorldStage(
  async (stage) => {
    ;({ world, sink } = stage)
    const made = await aDestination(world, { url: sink.url, max_in_flight: 64 })
    signingSecret = made.secret
  },
  { now: NOW, loops: [] },
)

/** The delivery of a record, once it has arrived. */
async function deliveryOf(recordId: string): Promise<Received> {
  await world.idle()
  const received = sink.received.find((request) => request.headers['service-event-id'] === recordId)
  assert.ok(received !== undefined, 'it was delivered')
  return received
}

/** The bytes of `data` in an envelope: everything after the first three members. */
function dataOf(envelope: string): string {
  return envelope.slice(envelope.indexOf(',"data":') + 8, -1)
}

const githubEvents = JSON.parse(
  readFileSync(new URL(import.meta.resolve('@octokit/webhooks-examples')), 'utf8'),
) as readonly { name: string; examples: unknown[] }[]
const payloads = githubEvents.flatMap(({ name, examples }) =>
  examples.map((example, index) => ({ name, index, text: JSON.stringify(example) })),
)

test('every payload of @octokit/webhooks-examples signed by @octokit/webhooks-methods gets 201, and is stored and delivered byte for byte', async () => {
  assert.ok(payloads.length > 300)
  const secret = 'a secret for the code host'
  const { public_url } = await aWebhook(world, { slug: 'github', verification: { scheme: 'code_host', secret } })
  const recordIds = await inGroups(payloads, 16, async ({ name, index, text }) => {
    const signature = await signAsGithub(secret, text)
    const answer = await post(public_url, text, {
      headers: { 'x-github-event': name, 'x-github-delivery': `${name}-${index}`, 'x-hub-signature-256': signature },
    })
    assert.equal(answer.status, 201, name)
    const submission = await submissionOf(world, answer.body.id)
    assert.equal(submission.body, text)
    assert.equal(submission.headers['x-github-event'], name)
    return answer.body.records[0].id as string
  })
  for (const [at, { name, text }] of payloads.entries()) {
    const received = await deliveryOf(recordIds[at] ?? '')
    assert.equal(dataOf(received.body), text, name)
  }
})

async function inGroups<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let at = 0; at < items.length; at += size)
    results.push(...(await Promise.all(items.slice(at, at + size).map(work))))
  return results
}

test('a body that was changed after @octokit/webhooks-methods signed it is refused', async () => {
  const secret = 'another secret'
  const { public_url } = await aWebhook(world, { verification: { scheme: 'code_host', secret } })
  const answer = await post(public_url, '{"a":2}', {
    headers: { 'x-hub-signature-256': await signAsGithub(secret, '{"a":1}') },
  })
  assert.deepEqual([answer.status, answer.body.reason, answer.body.scheme], [401, 'bad_signature', 'code_host'])
})

const stripe = new Stripe('sk_test_none')

test("an event signed by stripe's generateTestHeaderString gets 201 and is stored byte for byte", async () => {
  const secret = 'whsec_of_the_payments_provider'
  const { public_url } = await aWebhook(world, { verification: { scheme: 'payments_provider', secret } })
  const payload = JSON.stringify(
    { id: 'evt_1', object: 'event', data: { object: { amount: 2_000, currency: 'eur' } } },
    null,
    2,
  )
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp: SECONDS })
  const answer = await post(public_url, payload, { headers: { 'stripe-signature': header } })
  assert.equal(answer.status, 201)
  assert.equal((await submissionOf(world, answer.body.id)).body, payload)
  assert.equal(dataOf((await deliveryOf(answer.body.records[0].id)).body), payload)
})

test("an event that stripe's generateTestHeaderString signed too long ago is stale", async () => {
  const secret = 'whsec_of_the_payments_provider'
  const { public_url } = await aWebhook(world, { verification: { scheme: 'payments_provider', secret } })
  const header = stripe.webhooks.generateTestHeaderString({ payload: '{}', secret, timestamp: SECONDS - 301 })
  const answer = await post(public_url, '{}', { headers: { 'stripe-signature': header } })
  assert.deepEqual([answer.status, answer.body.reason], [401, 'stale_timestamp'])
})

/** A signature of `{}` that is this many seconds old. */
const SIGNED_AGO: Readonly<Record<string, (age: number) => Record<string, string>>> = {
  payments_provider: (age) => ({
    'stripe-signature': stripe.webhooks.generateTestHeaderString({
      payload: '{}',
      secret: KEY,
      timestamp: SECONDS - age,
    }),
  }),
  chat_platform: (age) => ({
    'x-slack-request-timestamp': String(SECONDS - age),
    'x-slack-signature': `v0=${createHmac('sha256', KEY)
      .update(`v0:${SECONDS - age}:{}`)
      .digest('hex')}`,
  }),
  standard_webhooks: (age) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(SECONDS - age),
    'webhook-signature': new StandardWebhook(KEY).sign('msg_1', new Date(NOW - age * 1_000), '{}'),
  }),
}
const KEY = `whsec_${Buffer.from('a key of thirty-two bytes for it').toString('base64')}`

for (const [scheme, signedAgo] of Object.entries(SIGNED_AGO)) {
  test(`${scheme}: tolerance_seconds bounds the age of a signature; it is 30 to 86,400, and 300 by default`, async () => {
    const { id, public_url, verification } = await aWebhook(world, { verification: { scheme, secret: KEY } })
    assert.equal(verification.tolerance_seconds, 300)
    const change = (tolerance_seconds: number): Promise<Answer> =>
      world.admin('PATCH', `webhooks/${id}`, { verification: { scheme, tolerance_seconds } })
    for (const bad of [29, 86_401, 30.5]) {
      const answers = [
        await change(bad),
        await world.admin('POST', 'webhooks', {
          name: 'bad',
          verification: { scheme, secret: KEY, tolerance_seconds: bad },
        }),
      ]
      for (const { status, body } of answers)
        assert.deepEqual(
          [status, body.reason, /verification\.tolerance_seconds/.test(body.error)],
          [400, 'invalid_request', true],
          body.error,
        )
    }
    for (const tolerance of [300, 30, 86_400]) {
      if (tolerance !== 300)
        assert.equal((await change(tolerance)).body.webhook.verification.tolerance_seconds, tolerance)
      for (const age of [tolerance, -tolerance])
        assert.equal((await post(public_url, '{}', { headers: signedAgo(age) })).status, 201, `${age} s`)
      for (const age of [tolerance + 1, -tolerance - 1])
        assert.equal(
          (await post(public_url, '{}', { headers: signedAgo(age) })).body.reason,
          'stale_timestamp',
          `${age} s`,
        )
    }
    const atOnce = await aWebhook(world, { verification: { scheme, secret: KEY, tolerance_seconds: 30 } })
    assert.equal((await post(atOnce.public_url, '{}', { headers: signedAgo(31) })).body.reason, 'stale_timestamp')
  })
}

for (const prefix of ['webhook', 'svix']) {
  test(`an event signed by standardwebhooks' Webhook.sign with ${prefix}-* headers gets 201 and is stored byte for byte`, async () => {
    const secret = `whsec_${Buffer.from('a key of thirty-two bytes for it').toString('base64')}`
    const { public_url } = await aWebhook(world, { verification: { scheme: 'standard_webhooks', secret } })
    const payload = '{"type": "user.created",\n "data": {"id": 12345678901234567890}}'
    const signature = new StandardWebhook(secret).sign('msg_1', new Date(NOW), payload)
    const headers = {
      [`${prefix}-id`]: 'msg_1',
      [`${prefix}-timestamp`]: String(SECONDS),
      [`${prefix}-signature`]: signature,
    }
    const answer = await post(public_url, payload, { headers })
    assert.equal(answer.status, 201)
    assert.equal((await submissionOf(world, answer.body.id)).body, payload)
    assert.equal(dataOf((await deliveryOf(answer.body.records[0].id)).body), payload)
  })
}

async function aDelivery(text: string): Promise<Received & { readonly eventId: string }> {
  const answer = await post(world.endpoint, text)
  assert.equal(answer.status, 201)
  const eventId: string = answer.body.records[0].id
  return { ...(await deliveryOf(eventId)), eventId }
}

test('the library stripe accepts a delivery of Postroad: constructEvent on Service-Signature', async () => {
  const { body, headers, eventId } = await aDelivery('{"order":1}')
  const event = stripe.webhooks.constructEvent(body, String(headers['service-signature']), signingSecret)
  assert.equal(event.id, eventId)
})

test('the library svix accepts a delivery of Postroad: Webhook.verify', async () => {
  const { body, headers, eventId } = await aDelivery('{"order":2}')
  assert.equal(headers['webhook-id'], eventId)
  assert.doesNotThrow(() => new SvixWebhook(signingSecret).verify(body, headers as Record<string, string>))
})

test('the library standardwebhooks accepts a delivery of Postroad: Webhook.verify, and webhook-id is the event id', async () => {
  const { body, headers, eventId } = await aDelivery('{"order":3}')
  assert.equal(headers['webhook-id'], eventId)
  const event = new StandardWebhook(signingSecret).verify(body, headers as Record<string, string>) as {
    id: string
    data: unknown
  }
  assert.deepEqual([event.id, event.data], [eventId, { order: 3 }])
})

test('the three libraries refuse a delivery of Postroad with one changed byte', async () => {
  const { body, headers } = await aDelivery('{"order":4}')
  const forged = body.replace('"order":4', '"order":5')
  assert.throws(() => stripe.webhooks.constructEvent(forged, String(headers['service-signature']), signingSecret))
  assert.throws(() => new SvixWebhook(signingSecret).verify(forged, headers as Record<string, string>))
  assert.throws(() => new StandardWebhook(signingSecret).verify(forged, headers as Record<string, string>))
})

test('one Postroad can feed another: its delivery passes the schemes payments_provider and standard_webhooks', async () => {
  const { body, headers } = await aDelivery('{"order":6}')
  const asStripe = await aWebhook(world, { verification: { scheme: 'payments_provider', secret: signingSecret } })
  const asStandard = await aWebhook(world, { verification: { scheme: 'standard_webhooks', secret: signingSecret } })
  const first = await post(asStripe.public_url, body, {
    headers: { 'payment-signature': String(headers['service-signature']) },
  })
  assert.equal(first.status, 201)
  const standard = {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  }
  const second = await post(asStandard.public_url, body, { headers: standard })
  assert.equal(second.status, 201)
  assert.equal(await filedText(world, second), body)
})

type Vector = {
  readonly id: string
  readonly scheme?: string
  readonly config?: Readonly<Record<string, string>>
  readonly secret: string
  readonly now?: number
  readonly content_type?: string
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly expect: string
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../verify/test/vectors/signatures.json', import.meta.url), 'utf8'),
) as readonly Vector[]

for (const vector of vectors.filter(({ scheme }) => scheme !== undefined)) {
  test(`signature vector ${vector.id}: ${vector.expect}`, async (t) => {
    t.after(() => world.clock.set(NOW))
    const { scheme, config = {}, secret, headers, body, content_type } = vector
    const { public_url } = await aWebhook(world, { verification: { scheme, secret, ...config } })
    world.clock.set(vector.now === undefined ? NOW : vector.now * 1_000)
    const answer = await post(public_url, body, {
      headers,
      ...(content_type === undefined ? {} : { type: content_type }),
    })
    if (vector.expect !== 'ok') {
      assert.equal(answer.status, 401)
      assert.equal(answer.body.scheme, scheme)
      assert.ok(
        vector.expect === 'bad_signature_or_missing'
          ? ['bad_signature', 'missing_header'].includes(answer.body.reason)
          : answer.body.reason === vector.expect,
      )
    } else if (body === 'Hello, World!') {
      // The signature is right, so the next check answers: this body is not JSON.
      assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_body'])
    } else {
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      assert.equal((await submissionOf(world, answer.body.id)).body, body)
    }
  })
}
