import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import type { SourcePreset } from '@postroad/contract'
import { aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aCertificate, aWorldOfProviders, type Providers } from '../stage/provider-stage.ts'

/** Signatures by certificates that their providers publish. Each test signs with a certificate of its provider's server. */
let world: World
let providers: Providers

before(async () => {
  ;({ world, providers } = await aWorldOfProviders())
})
after(async () => {
  await world.stop()
  await providers.stop()
})

const AMAZON = aCertificate('sns.amazonaws.com')
const PAYPAL = aCertificate('messageverificationcerts.paypal.com')
const TOPIC = 'arn:aws:sns:us-east-1:123456789012:orders'
const WEBHOOK_ID = '9XL90610J3647323C'

let files = 0
/** Publishes a text at a provider, and returns its URL. */
function published(host: string, text: string, status = 200): string {
  files += 1
  const path = host.endsWith('.paypal.com') ? `/v1/notifications/certs/CERT-${files}` : `/cert-${files}.pem`
  providers.answers.set(path, { status, body: text })
  return `https://${host}:${providers.port}${path}`
}
const askedOf = (url: string): number => providers.asked.get(new URL(url).pathname) ?? 0
const countOf = async ({ id }: { id: string }): Promise<number> =>
  (await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions.length

async function ofPreset(id: string, secret: string) {
  const { body } = await world.admin('GET', 'source-presets')
  const presets: readonly SourcePreset[] = body.source_presets
  const { settings } = presets.find((preset) => preset.id === id) ?? assert.fail()
  return aWebhook(world, { ...settings, verification: { ...settings.verification, secret } })
}

type Message = Record<string, string>

/** Written from the page of Amazon that the preset names. */
function snsMessage(over: Message, { key = AMAZON.key, version = '2' } = {}): string {
  const message: Message = {
    Type: 'Notification',
    MessageId: `id-${crypto.randomUUID()}`,
    TopicArn: TOPIC,
    Subject: 'An order',
    Message: '{"total":42.5}\nand more',
    Timestamp: '2026-11-23T12:00:00.000Z',
    SigningCertURL: '',
    SignatureVersion: version,
    ...over,
  }
  const names =
    message['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const text = names.flatMap((name) => (name in message ? [`${name}\n${message[name]}\n`] : [])).join('')
  const signature = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
    .update(text)
    .sign(key, 'base64')
  return JSON.stringify({ ...message, Signature: signature })
}

const sendSns = (url: string, body: string): Promise<Answer> =>
  post(url, body, { type: 'text/plain; charset=UTF-8', headers: { 'x-amz-sns-message-type': 'Notification' } })

const confirmation = (SubscribeURL: string, SigningCertURL: string): string =>
  snsMessage({ Type: 'SubscriptionConfirmation', Token: 'token', Message: 'Confirm.', SubscribeURL, SigningCertURL })

describe('Amazon SNS', () => {
  for (const version of ['1', '2'])
    test(`a message that is signed by version ${version} is accepted, and its certificate is fetched once`, async () => {
      const { public_url: url } = await ofPreset('aws-sns', TOPIC)
      const SigningCertURL = published('sns.us-east-1.amazonaws.com', AMAZON.cert)
      const sent = await Promise.all([1, 2, 3].map(() => sendSns(url, snsMessage({ SigningCertURL }, { version }))))
      assert.deepEqual(
        sent.map(({ status }) => status),
        [201, 201, 201],
      )
      assert.equal(askedOf(SigningCertURL), 1)
    })

  test('a repeat of a message is a duplicate', async () => {
    const { public_url: url } = await ofPreset('aws-sns', TOPIC)
    const body = snsMessage({ SigningCertURL: published('sns.cn-north-1.amazonaws.com.cn', AMAZON.cert) })
    assert.deepEqual([(await sendSns(url, body)).status, (await sendSns(url, body)).status], [201, 200])
  })

  test('a changed message, another key, an unknown version and another topic are refused', async () => {
    const webhook = await ofPreset('aws-sns', TOPIC)
    const SigningCertURL = published('sns.us-east-1.amazonaws.com', AMAZON.cert)
    const good = snsMessage({ SigningCertURL })
    const refused = [
      good.replace('42.5', '1.5'),
      snsMessage({ SigningCertURL }, { key: PAYPAL.key }),
      snsMessage({ SigningCertURL }, { version: '3' }),
      snsMessage({ SigningCertURL, TopicArn: `${TOPIC}-of-another` }),
      snsMessage({ SigningCertURL, Type: 'Other' }),
      '{}',
      'not json',
    ]
    for (const body of refused) {
      const { status, body: said } = await sendSns(webhook.public_url, body)
      assert.deepEqual([status, said.reason, said.scheme], [401, 'bad_signature', 'aws_sns'], body)
    }
    assert.equal((await post(webhook.public_url, good)).body.reason, 'missing_header')
    assert.equal(await countOf(webhook), 0)
  })

  test('no request leaves for a certificate elsewhere, or for a message of another topic', async () => {
    const { public_url: url } = await ofPreset('aws-sns', TOPIC)
    const good = published('sns.us-east-1.amazonaws.com', AMAZON.cert)
    const elsewhere = [
      good.replace('sns.us-east-1.amazonaws.com', 'evil.example'),
      good.replace('https:', 'http:'),
      good.replace('https://', 'https://user@'),
      good.replace('sns.us-east-1', 'sns.us.east-1'),
      good.replace('sns.us-east-1', 'sns.s3'),
      good.replace('sns.us-east-1', 'sns.s3-us-west-2'),
      good.replace('.amazonaws.com', '.amazonaws.com.evil.example'),
      good.replace('.pem', '.txt'),
    ]
    for (const SigningCertURL of elsewhere)
      assert.equal((await sendSns(url, snsMessage({ SigningCertURL }))).body.reason, 'bad_signature', SigningCertURL)
    await sendSns(url, snsMessage({ SigningCertURL: good, TopicArn: 'arn:aws:sns:us-east-1:1:other' }))
    assert.equal(askedOf(good), 0)
  })

  test('while the certificate cannot be fetched the answer is 503 with Retry-After, and nothing is stored', async () => {
    const webhook = await ofPreset('aws-sns', TOPIC)
    const SigningCertURL = published('sns.us-east-1.amazonaws.com', 'away', 500)
    const body = snsMessage({ SigningCertURL })
    for (let round = 0; round < 2; round += 1) {
      const refused = await sendSns(webhook.public_url, body)
      assert.deepEqual(
        [refused.status, refused.body.reason, refused.headers.get('retry-after')],
        [503, 'provider_unavailable', '10'],
      )
    }
    assert.equal(askedOf(SigningCertURL), 1, 'the failure is remembered for a moment')
    assert.equal(await countOf(webhook), 0)
    providers.answers.set(new URL(SigningCertURL).pathname, { status: 200, body: AMAZON.cert })
    world.clock.advance(10_000)
    assert.equal((await sendSns(webhook.public_url, body)).status, 201)
  })

  test('a file that is not a certificate, a short key and an expired certificate are refused', async () => {
    const { public_url: url } = await ofPreset('aws-sns', TOPIC)
    const none = published('sns.us-east-1.amazonaws.com', 'hello')
    const short = aCertificate('short', [], 1_024)
    const shortUrl = published('sns.us-east-1.amazonaws.com', short.cert)
    for (const body of [
      snsMessage({ SigningCertURL: none }),
      snsMessage({ SigningCertURL: shortUrl }, { key: short.key }),
    ])
      assert.deepEqual((await sendSns(url, body)).body.reason, 'bad_signature')
    const good = snsMessage({ SigningCertURL: published('sns.us-east-1.amazonaws.com', AMAZON.cert) })
    world.clock.wallAheadMs = 3 * 86_400_000
    try {
      assert.equal((await sendSns(url, good)).body.reason, 'bad_signature')
    } finally {
      world.clock.wallAheadMs = 0
    }
  })

  test('a verified subscription is confirmed by its SubscribeURL, and not stored', async () => {
    const webhook = await ofPreset('aws-sns', TOPIC)
    const SigningCertURL = published('sns.us-east-1.amazonaws.com', AMAZON.cert)
    const subscribe = published('sns.us-east-1.amazonaws.com', '<ok/>')
    const body = confirmation(`${subscribe}?Action=ConfirmSubscription`, SigningCertURL)
    providers.answers.set(`${new URL(subscribe).pathname}?Action=ConfirmSubscription`, { status: 200 })
    assert.equal((await sendSns(webhook.public_url, body.replace('Confirm.', 'Forged.'))).status, 401)
    assert.equal(providers.asked.get(`${new URL(subscribe).pathname}?Action=ConfirmSubscription`), undefined)
    assert.equal((await sendRaw(webhook.public_url, body)).status, 200)
    assert.equal(providers.asked.get(`${new URL(subscribe).pathname}?Action=ConfirmSubscription`), 1)
    assert.equal(await countOf(webhook), 0)
  })

  test('a confirmation that Amazon refuses gets 503, and a SubscribeURL elsewhere is not fetched', async () => {
    const webhook = await ofPreset('aws-sns', TOPIC)
    const SigningCertURL = published('sns.us-east-1.amazonaws.com', AMAZON.cert)
    const failing = published('sns.us-east-1.amazonaws.com', '', 500)
    const refused = await sendSns(webhook.public_url, confirmation(failing, SigningCertURL))
    assert.deepEqual([refused.status, refused.body.reason], [503, 'provider_unavailable'])
    const elsewhere = published('evil.example', '')
    await sendSns(webhook.public_url, confirmation(elsewhere, SigningCertURL))
    assert.equal(askedOf(elsewhere), 0)
  })

  test('the secret is the ARN of a topic', async () => {
    const { status, body } = await world.admin('POST', 'webhooks', {
      name: 'Not a topic',
      verification: { scheme: 'aws_sns', secret: 'orders' },
    })
    assert.equal(status, 400)
    assert.match(body.error, /ARN of the topic/)
  })
})

const sendRaw = (url: string, body: string): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'x-amz-sns-message-type': 'SubscriptionConfirmation' } })

/** Written from the source of PayPal's SDK that the preset names. */
function paypalHeaders(
  body: string,
  { url, key = PAYPAL.key, webhookId = WEBHOOK_ID }: { url: string; key?: string; webhookId?: string },
): Record<string, string> {
  const [id, time] = ['d938e770-8046-11e6-8103-6b62a8a99ac4', '2026-11-23T12:00:00Z']
  const signed = `${id}|${time}|${webhookId}|${crc32(body)}`
  return {
    'PayPal-Transmission-Id': id,
    'PayPal-Transmission-Time': time,
    'PayPal-Transmission-Sig': createSign('RSA-SHA256').update(signed).sign(key, 'base64'),
    'PayPal-Auth-Algo': 'SHA256withRSA',
    'PayPal-Cert-Url': url,
  }
}

describe('PayPal', () => {
  const BODY = '{"id":"WH-1","event_type":"PAYMENT.SALE.COMPLETED","summary":"Zoë"}'

  test('a signed event is accepted, in production and in the sandbox, and a repeat is a duplicate', async () => {
    for (const host of ['api.paypal.com', 'api.sandbox.paypal.com']) {
      const { public_url } = await ofPreset('paypal', WEBHOOK_ID)
      const headers = paypalHeaders(BODY, { url: published(host, PAYPAL.cert) })
      const send = async (): Promise<number> => (await post(public_url, BODY, { headers })).status
      assert.deepEqual([await send(), await send()], [201, 200])
    }
  })

  test('another body, another webhook, another key, another algorithm and a missing header are refused', async () => {
    const webhook = await ofPreset('paypal', WEBHOOK_ID)
    const url = published('api.paypal.com', PAYPAL.cert)
    const good = paypalHeaders(BODY, { url })
    const { 'PayPal-Transmission-Time': _, ...withoutTime } = good
    const stranger = aCertificate('paypal.com.evil.example')
    const refused: readonly (readonly [string, Record<string, string>, string])[] = [
      [BODY.replace('SALE', 'sale'), good, 'bad_signature'],
      [BODY, paypalHeaders(BODY, { url, webhookId: '8XL90610J3647323C' }), 'bad_signature'],
      [BODY, paypalHeaders(BODY, { url, key: AMAZON.key }), 'bad_signature'],
      [BODY, { ...good, 'PayPal-Auth-Algo': 'SHA1withRSA' }, 'bad_signature'],
      [BODY, { ...good, 'PayPal-Transmission-Id': 'x|y' }, 'bad_signature'],
      [BODY, withoutTime, 'missing_header'],
      [BODY, { ...good, 'PayPal-Cert-Url': url.replace('api.paypal.com', 'evil.example') }, 'bad_signature'],
      [BODY, { ...good, 'PayPal-Cert-Url': url.replace('/notifications/certs', '/images') }, 'bad_signature'],
      [
        BODY,
        paypalHeaders(BODY, { url: published('api.paypal.com', stranger.cert), key: stranger.key }),
        'bad_signature',
      ],
    ]
    for (const [body, headers, reason] of refused) {
      const answer = await post(webhook.public_url, body, { headers })
      assert.deepEqual([answer.status, answer.body.reason], [401, reason], JSON.stringify(headers))
    }
    assert.equal(await countOf(webhook), 0)
    assert.equal((await post(webhook.public_url, BODY, { headers: good })).status, 201)
  })

  test('the signature tester fetches the certificate, and the server signs no sample', async () => {
    const { id } = await ofPreset('paypal', WEBHOOK_ID)
    const headers = paypalHeaders(BODY, { url: published('api.paypal.com', PAYPAL.cert) })
    const right = await world.admin('POST', `webhooks/${id}/verify-sample`, { headers, body: BODY })
    assert.deepEqual([right.body.ok, right.body.matched_secret], [true, 'current'])
    const wrong = await world.admin('POST', `webhooks/${id}/verify-sample`, { headers, body: `${BODY} ` })
    assert.deepEqual([wrong.body.ok, wrong.body.failed_step], [false, 'digest'])
    const away = { ...headers, 'PayPal-Cert-Url': published('api.paypal.com', '', 503) }
    const unknown = await world.admin('POST', `webhooks/${id}/verify-sample`, { headers: away, body: BODY })
    assert.deepEqual([unknown.status, unknown.body.reason], [409, 'invalid_state'])
    assert.equal((await world.admin('POST', `webhooks/${id}/sign-sample`, { body: BODY })).body.reason, 'invalid_state')
  })
})

describe('an RSA key of the sender', () => {
  const RSA = generateKeyPairSync('rsa', { modulusLength: 2_048 })
  const PEM = RSA.publicKey.export({ format: 'pem', type: 'spki' }).toString()
  const settings = { scheme: 'public_key', algorithm: 'rsa_sha256', header: 'X-Signature', encoding: 'base64' }

  test('an RSA key verifies what its private key signed, and nothing else', async () => {
    const { public_url: url } = await aWebhook(world, { verification: { ...settings, secret: PEM } })
    const signature = createSign('RSA-SHA256').update('{"a":1}').sign(RSA.privateKey, 'base64')
    const send = (body: string) => post(url, body, { headers: { 'X-Signature': signature } })
    assert.equal((await send('{"a":1}')).status, 201)
    assert.equal((await send('{"a":2}')).body.reason, 'bad_signature')
  })

  test('an RSA key has at least 2,048 bits', async () => {
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
    const secret = publicKey.export({ format: 'pem', type: 'spki' }).toString()
    const { status, body } = await world.admin('POST', 'webhooks', {
      name: 'Short key',
      verification: { ...settings, secret },
    })
    assert.equal(status, 400)
    assert.match(body.error, /at least 2,048 bits/)
  })
})
