import assert from 'node:assert/strict'
import { createHash, createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { SourcePreset } from '@postroad/contract'
import { sign as signAsGithub } from '@octokit/webhooks-methods'
import { encodeSignatureHeader as signAsSanity } from '@sanity/webhook'
import { SignJWT } from 'jose'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { aWebhook, post } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Each preset, signed as its provider signs and sent over HTTP. The npm library of the provider signs where there is
 * one (`BY_LIBRARY`); the other signers are written from the page or the source file that the preset names.
 */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

let asked: Promise<Answer> | undefined
async function listed(): Promise<readonly SourcePreset[]> {
  asked ??= world.admin('GET', 'source-presets')
  return (await asked).body.source_presets
}

const ALL_FILES = readdirSync(new URL('../../../verify/presets/', import.meta.url))
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.replace('.json', ''))

type Signing = { readonly secret: string; readonly body: string; readonly now: number; readonly url: string }
type Signer = (request: Signing) => Record<string, string> | Promise<Record<string, string>>
type Key = string | Uint8Array

const mac = (key: Key, text: string, [algorithm, encoding]: readonly [string, 'hex' | 'base64']): string =>
  createHmac(algorithm, key).update(text).digest(encoding)
const HEX = ['sha256', 'hex'] as const
const BASE64 = ['sha256', 'base64'] as const

/** One digest of the body in one header. */
const body =
  (header: string, prefix = '', form: Parameters<typeof mac>[2] = HEX): Signer =>
  ({ secret, body: text }) => ({ [header]: prefix + mac(secret, text, form) })

/** The items of one header, such as `t=…,v1=…`, over the time and the body. */
const items =
  (
    header: string,
    write: (time: string, digest: string) => string,
    of: (time: string, text: string) => string,
  ): Signer =>
  ({ secret, body: text, now }) => ({ [header]: write(String(now), mac(secret, of(String(now), text), HEX)) })

const ms = (now: number): string => `${now}123`
const iso = (now: number): string => new Date(now * 1_000).toISOString()

const standard =
  (
    set: 'webhook' | 'svix',
    Library: new (secret: string) => { sign(id: string, at: Date, text: string): string },
  ): Signer =>
  ({ secret, body: text, now }) => ({
    [`${set}-id`]: 'msg_1',
    [`${set}-timestamp`]: String(now),
    [`${set}-signature`]: new Library(secret).sign('msg_1', new Date(now * 1_000), text),
  })
const byStandardWebhooks = standard('webhook', StandardWebhook)
const bySvix = standard('svix', SvixWebhook)

const ED25519 = generateKeyPairSync('ed25519')
const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' })

/** Signed by the library of the provider, or by the one that the provider's own library is made with. */
const BY_LIBRARY: Readonly<Record<string, Signer>> = {
  stripe: ({ secret, body: payload, now }) => ({
    'Stripe-Signature': new Stripe('sk_test_x').webhooks.generateTestHeaderString({ payload, secret, timestamp: now }),
  }),
  github: async ({ secret, body: text }) => ({ 'X-Hub-Signature-256': await signAsGithub(secret, text) }),
  sanity: async ({ secret, body: text, now }) => ({
    'sanity-webhook-signature': await signAsSanity(text, Number(ms(now)), secret),
  }),
  'standard-webhooks': byStandardWebhooks,
  svix: bySvix,
  clerk: bySvix,
  resend: bySvix,
  openai: byStandardWebhooks,
  anthropic: byStandardWebhooks,
  replicate: byStandardWebhooks,
  'dodo-payments': byStandardWebhooks,
  increase: byStandardWebhooks,
  lithic: byStandardWebhooks,
  'supabase-auth': byStandardWebhooks,
  // Polar's documentation: the library of Standard Webhooks takes the whole secret in base64.
  polar: ({ secret, ...request }) => byStandardWebhooks({ ...request, secret: Buffer.from(secret).toString('base64') }),
  // livekit-server-sdk makes its tokens with these calls of jose.
  livekit: async ({ secret, body: text, now }) => ({
    Authorization: await new SignJWT({ sha256: createHash('sha256').update(text).digest('base64') })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('APIkey')
      .setExpirationTime(now + 300)
      .setNotBefore(now)
      .sign(new TextEncoder().encode(secret)),
  }),
}

/** Written from the provider's documentation or source. */
const BY_DOCUMENTATION: Readonly<Record<string, Signer>> = {
  shopify: body('X-Shopify-Hmac-Sha256', '', BASE64),
  slack: ({ secret, body: text, now }) => ({
    'X-Slack-Request-Timestamp': String(now),
    'X-Slack-Signature': `v0=${mac(secret, `v0:${now}:${text}`, HEX)}`,
  }),
  meta: body('X-Hub-Signature-256', 'sha256='),
  linear: body('Linear-Signature'),
  sentry: body('Sentry-Hook-Signature'),
  pagerduty: ({ secret, body: text }) => ({
    'X-PagerDuty-Signature': `v1=${mac('a secret of before', text, HEX)},v1=${mac(secret, text, HEX)}`,
  }),
  typeform: body('Typeform-Signature', 'sha256=', BASE64),
  intercom: body('X-Hub-Signature', 'sha1=', ['sha1', 'hex']),
  'lemon-squeezy': body('X-Signature'),
  gocardless: body('Webhook-Signature'),
  razorpay: body('X-Razorpay-Signature'),
  'coinbase-commerce': body('X-CC-Webhook-Signature'),
  easypost: body('X-Hmac-Signature', 'hmac-sha256-hex='),
  'modern-treasury': body('X-Signature'),
  line: body('X-Line-Signature', '', BASE64),
  pusher: body('X-Pusher-Signature'),
  circleci: ({ secret, body: text }) => ({ 'circleci-signature': `v1=${mac(secret, text, HEX)},v2=other,v3=other` }),
  gitea: body('X-Gitea-Signature'),
  gogs: body('X-Gogs-Signature'),
  'cal-com': body('X-Cal-Signature-256'),
  plain: body('Plain-Request-Signature'),
  dub: body('Dub-Signature'),
  'trigger-dev': body('x-trigger-signature-hmacsha256'),
  woocommerce: body('X-WC-Webhook-Signature', '', BASE64),
  alchemy: body('X-Alchemy-Signature'),
  flagsmith: body('X-Flagsmith-Signature'),
  btcpay: body('BTCPay-Sig', 'sha256='),
  mastodon: body('X-Hub-Signature', 'sha256='),
  discourse: body('X-Discourse-Event-Signature', 'sha256='),
  flux: body('X-Signature', 'sha256='),
  grafana: body('X-Grafana-Alerting-Signature'),
  'help-scout': body('X-HelpScout-Signature', '', ['sha1', 'base64']),
  quickbooks: body('intuit-signature', '', BASE64),
  docusign: body('X-DocuSign-Signature-1', '', BASE64),
  logto: body('logto-signature-sha-256'),
  expo: body('expo-signature', 'sha1=', ['sha1', 'hex']),
  segment: body('X-Signature', '', ['sha1', 'hex']),
  hookdeck: body('X-Hookdeck-Signature', '', BASE64),
  paystack: body('x-paystack-signature', '', ['sha512', 'hex']),
  hyperswitch: body('x-webhook-signature-512', '', ['sha512', 'hex']),
  'terraform-run-tasks': body('X-Tfc-Task-Signature', '', ['sha512', 'hex']),
  paddle: items(
    'Paddle-Signature',
    (time, digest) => `ts=${time};h1=${digest}`,
    (time, text) => `${time}:${text}`,
  ),
  mux: items(
    'Mux-Signature',
    (time, digest) => `t=${time},v1=${digest}`,
    (time, text) => `${time}.${text}`,
  ),
  workos: ({ secret, body: text, now }) => ({
    'WorkOS-Signature': `t=${ms(now)}, v1=${mac(secret, `${ms(now)}.${text}`, HEX)}`,
  }),
  knock: ({ secret, body: text, now }) => ({
    'x-knock-signature': `t=${ms(now)},s=${mac(secret, `${ms(now)}.${text}`, BASE64)}`,
  }),
  elevenlabs: items(
    'ElevenLabs-Signature',
    (time, digest) => `t=${time},v0=${digest}`,
    (time, text) => `${time}.${text}`,
  ),
  retell: ({ secret, body: text, now }) => ({
    'x-retell-signature': `v=${ms(now)},d=${mac(secret, text + ms(now), HEX)}`,
  }),
  buildkite: items(
    'X-Buildkite-Signature',
    (time, digest) => `timestamp=${time},signature=${digest}`,
    (time, text) => `${time}.${text}`,
  ),
  'cloudflare-stream': items(
    'Webhook-Signature',
    (time, digest) => `time=${time},sig1=${digest}`,
    (time, text) => `${time}.${text}`,
  ),
  webflow: ({ secret, body: text, now }) => ({
    'x-webflow-timestamp': ms(now),
    'x-webflow-signature': mac(secret, `${ms(now)}:${text}`, HEX),
  }),
  // Orb writes its time in UTC without a zone.
  orb: ({ secret, body: text, now }) => {
    const time = iso(now).slice(0, -1)
    return { 'X-Orb-Timestamp': time, 'X-Orb-Signature': `v1=${mac(secret, `v1:${time}:${text}`, HEX)}` }
  },
  finch: ({ secret, body: text, now }) => ({
    'Finch-Event-Id': 'evt_1',
    'Finch-Timestamp': String(now),
    'Finch-Signature': `v1,other v1,${mac(Buffer.from(secret, 'base64'), `evt_1.${now}.${text}`, BASE64)}`,
  }),
  configcat: ({ secret, body: text, now }) => ({
    'X-ConfigCat-Webhook-ID': 'b616ca659d154a5f',
    'X-ConfigCat-Webhook-Timestamp': String(now),
    'X-ConfigCat-Webhook-Signature-V1': [
      mac(secret, `b616ca659d154a5f${now}${text}`, BASE64),
      mac('x', 'y', BASE64),
    ].join(),
  }),
  box: ({ secret, body: text, now }) => ({
    'Box-Delivery-Timestamp': iso(now),
    'Box-Signature-Primary': mac(secret, text + iso(now), BASE64),
  }),
  'adyen-platform': ({ secret, body: text }) => ({ HmacSignature: mac(Buffer.from(secret, 'hex'), text, BASE64) }),
  square: ({ secret, body: text, url }) => ({ 'x-square-hmacsha256-signature': mac(secret, url + text, BASE64) }),
  appwrite: ({ secret, body: text, url }) => ({
    'X-Appwrite-Webhook-Signature': mac(secret, url + text, ['sha1', 'base64']),
  }),
  twilio: ({ secret, body: text, url }) => {
    const fields = Object.fromEntries(new URLSearchParams(text))
    const names = Object.keys(fields).toSorted()
    const signed = url + names.map((name) => name + fields[name]).join('')
    return { 'X-Twilio-Signature': mac(secret, signed, ['sha1', 'base64']) }
  },
  telnyx: ({ body: text, now }) => ({
    'telnyx-timestamp': String(now),
    'telnyx-signature-ed25519': sign(null, Buffer.from(`${now}|${text}`), ED25519.privateKey).toString('base64'),
  }),
  sendgrid: ({ body: text, now }) => ({
    'X-Twilio-Email-Event-Webhook-Timestamp': String(now),
    'X-Twilio-Email-Event-Webhook-Signature': sign('sha256', Buffer.from(now + text), P256.privateKey).toString(
      'base64',
    ),
  }),
  discord: ({ body: text, now }) => ({
    'X-Signature-Timestamp': String(now),
    'X-Signature-Ed25519': sign(null, Buffer.from(now + text), ED25519.privateKey).toString('hex'),
  }),
  zoom: ({ secret, body: text, now }) => ({
    'x-zm-request-timestamp': String(now),
    'x-zm-signature': `v0=${mac(secret, `v0:${now}:${text}`, HEX)}`,
  }),
  twitch: ({ secret, body: text, now }) => ({
    'Twitch-Eventsub-Message-Id': 'message-1',
    'Twitch-Eventsub-Message-Timestamp': iso(now),
    'Twitch-Eventsub-Message-Signature': `sha256=${mac(secret, `message-1${iso(now)}${text}`, HEX)}`,
  }),
  gitlab: ({ secret }) => ({ 'X-Gitlab-Token': secret }),
  telegram: ({ secret }) => ({ 'X-Telegram-Bot-Api-Secret-Token': secret }),
  'hugging-face': ({ secret }) => ({ 'X-Webhook-Secret': secret }),
  documenso: ({ secret }) => ({ 'X-Documenso-Secret': secret }),
  revenuecat: ({ secret }) => ({ Authorization: secret }),
  alertmanager: ({ secret }) => ({ Authorization: `Bearer ${secret}` }),
  chargebee: ({ secret }) => ({ Authorization: `Basic ${Buffer.from(secret).toString('base64')}` }),
}

const SIGNERS: Readonly<Record<string, Signer>> = { ...BY_LIBRARY, ...BY_DOCUMENTATION }
const RAW = Buffer.from('a secret of thirty-two bytes ok!')

/** A secret in the form that the provider shows it. */
const SECRETS: Readonly<Record<string, string>> = {
  polar: 'polar_whs_abcDEF123',
  finch: RAW.toString('base64'),
  'adyen-platform': RAW.toString('hex'),
  telnyx: spki(ED25519.publicKey).subarray(-32).toString('base64'),
  discord: spki(ED25519.publicKey).subarray(-32).toString('hex'),
  sendgrid: spki(P256.publicKey).toString('base64'),
  chargebee: 'hooks:a password: with a colon',
}
const secretOf = ({ id, settings: { verification } }: SourcePreset): string =>
  SECRETS[id] ?? (verification.scheme === 'standard_webhooks' ? `whsec_${RAW.toString('base64')}` : 'hush-hush-hush')

test('there are 150 providers, each in a file of its name, and this test signs as providers that are listed', async () => {
  const presets = await listed()
  assert.ok(presets.length >= 150, String(presets.length))
  assert.deepEqual(presets.map(({ id }) => id).toSorted(), ALL_FILES.toSorted())
  assert.deepEqual(
    Object.keys(SIGNERS).filter((id) => !ALL_FILES.includes(id)),
    [],
  )
  assert.equal(new Set(presets.map(({ name }) => name)).size, presets.length)
  for (const { docs_url, settings } of presets) {
    assert.match(docs_url, /^https:\/\//)
    assert.notEqual(settings.verification.scheme, 'none')
  }
})

const CONTENT: Readonly<Record<string, { readonly text: string; readonly other: string; readonly type: string }>> = {
  twilio: {
    text: 'To=%2B1555&Body=Zo%C3%AB+%26+I',
    other: 'To=%2B1556&Body=Zo%C3%AB',
    type: 'application/x-www-form-urlencoded',
  },
}
const event = (id: string): string =>
  JSON.stringify({
    id,
    event_id: id,
    update_id: id,
    type: 'test',
    event: { id, event_type: 'test' },
    data: { id },
    name: 'Zoë',
  })
const JSON_CONTENT = { text: event('evt_1'), other: event('evt_2'), type: 'application/json' }
/** The response to an event and to its repeat. */
const statusesOf = ({ settings: { response } }: SourcePreset) => ({
  first: response?.status ?? 201,
  repeat: response?.status ?? 200,
})
const TOKENS = new Set(['static_token', 'basic_auth'])

describe('an endpoint made from a preset accepts the requests that its provider signs, and no others', () => {
  for (const id of Object.keys(SIGNERS)) {
    test(id, async () => {
      const preset = (await listed()).find((one) => one.id === id) ?? assert.fail()
      const { verification, handshake, ...settings } = preset.settings
      const secret = secretOf(preset)
      const { id: webhookId, public_url: url } = await aWebhook(world, {
        ...settings,
        verification: { ...verification, secret },
        handshake: handshake.kind === 'hub_challenge' ? { ...handshake, verify_token: 'token' } : handshake,
      })
      const { text, other, type } = CONTENT[id] ?? JSON_CONTENT
      const now = Math.floor(world.clock.wall() / 1_000)
      const signed = (at = now, key = secret) =>
        (SIGNERS[id] ?? assert.fail())({ secret: key, body: text, now: at, url })
      const send = (headers: Record<string, string>, sent = text): Promise<Answer> => post(url, sent, { headers, type })
      const headers = await signed()
      const names = Object.keys(headers).map((name) => name.toLowerCase())
      assert.ok(names.includes(preset.signature_header.toLowerCase()), names.join())

      const taken = await send(headers)
      const statuses = statusesOf(preset)
      assert.equal(taken.status, statuses.first, JSON.stringify(taken.body))
      const nothing = await send({})
      assert.deepEqual([nothing.status, nothing.body.reason], [401, 'missing_header'])
      const isToken = TOKENS.has(verification.scheme)
      const forged = isToken ? await send(await signed(now, `${secret}x`)) : await send(headers, other)
      assert.deepEqual([forged.status, forged.body.reason], [401, 'bad_signature'])
      const { idempotency } = preset.settings
      if (idempotency !== null) {
        const key = 'header' in idempotency ? { [idempotency.header]: `delivery-of-${id}` } : {}
        const [first, repeat] = [await send({ ...key, ...headers }), await send({ ...key, ...headers })]
        assert.deepEqual([first.status < 300, repeat.status], [true, statuses.repeat], 'a repeat is a duplicate')
      }
      const tolerance = 'tolerance_seconds' in verification ? verification.tolerance_seconds : null
      if (tolerance !== null) {
        const late = await send(await signed(now - tolerance - 2))
        assert.deepEqual([late.status, late.body.reason], [401, 'stale_timestamp'])
      }

      const sample = await world.admin('POST', `webhooks/${webhookId}/sign-sample`, { body: text })
      if (isToken || verification.scheme === 'public_key') assert.equal(sample.body.reason, 'invalid_state')
      else assert.equal((await send(sample.body.headers)).status < 300, true, JSON.stringify(sample.body))
    })
  }
})
