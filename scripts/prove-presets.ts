import { createSecretKey } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * Checks the proofs of the source presets with the libraries of their providers: `node scripts/prove-presets.ts FOLDER`.
 * FOLDER has them in its node_modules; `by` of each proof names package and version. They are no dependencies, because
 * fifty libraries are not needed to test what their requests prove.
 */

type Proof = {
  readonly by: string
  readonly secret: string
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
/** The request as a library wants it. `of` loads a package, and `now` is the time of the proof. */
type Checked = Proof & {
  // oxlint-disable-next-line typescript/no-explicit-any -- libraries that are not installed have no types
  readonly of: (name: string) => Promise<any>
  /** The value of a header. */
  readonly header: (name: string) => string
  readonly lower: Readonly<Record<string, string>>
  readonly url: string
  readonly bytes: Buffer
}
/** Throws, or returns false, for a request that the library does not accept. */
type Check = (proof: Checked) => unknown

const standardBase64 = (text: string): string => Buffer.from(text).toString('base64')

const CHECKS: Readonly<Record<string, Check>> = {
  liveblocks: async ({ of, secret, lower, body }) =>
    new (await of('@liveblocks/node')).WebhookHandler(secret).verifyRequest({ headers: lower, rawBody: body }),
  vonage: async ({ of, secret, header }) =>
    (await of('@vonage/jwt')).verifySignature(header('authorization').replace('Bearer ', ''), secret),
  messagebird: async ({ of, secret, header, url, bytes }) =>
    (await of('messagebird/lib/webhook-signature-jwt')).verify(
      url,
      bytes,
      header('messagebird-signature-jwt'),
      createSecretKey(Buffer.from(secret)),
    ),
  stream: async ({ of, secret, header, body }) =>
    (await of('stream-chat')).StreamChat.getInstance('key', secret).verifyWebhook(body, header('x-signature')),
  viber: async ({ of, secret, header, body }) =>
    new (await of('viber-bot/lib/message/message-validator'))({ debug: () => undefined }, secret).validateMessage(
      header('x-viber-content-signature'),
      body,
    ),
  hubspot: async ({ of, secret, header, url, body }) =>
    (await of('@hubspot/api-client')).Signature.isValid({
      signatureVersion: 'v3',
      signature: header('x-hubspot-signature-v3'),
      method: 'POST',
      clientSecret: secret,
      requestBody: body,
      url,
      timestamp: Number(header('x-hubspot-request-timestamp')),
    }),
  crisp: async ({ of, secret, header, body }) => {
    const { Crisp } = await of('crisp-api')
    // It verifies only after it was bound to a server.
    const crisp = Object.assign(new Crisp(), { _loopback: {} })
    return crisp.verifyHook(secret, JSON.parse(body), header('x-crisp-request-timestamp'), header('x-crisp-signature'))
  },
  cashfree: async ({ of, secret, header, body }) => {
    const { Cashfree, CFEnvironment } = await of('cashfree-pg')
    return new Cashfree(CFEnvironment.SANDBOX, 'id', secret).PGVerifyWebhookSignature(
      header('x-webhook-signature'),
      body,
      header('x-webhook-timestamp'),
    )
  },
  portone: async ({ of, secret, lower, body }) => (await of('@portone/server-sdk/webhook')).verify(secret, body, lower),
  onfido: async ({ of, secret, header, body }) =>
    new (await of('@onfido/api')).WebhookEventVerifier(secret).readPayload(body, header('x-sha2-signature')),
  terra: async ({ of, secret, header, body }) =>
    (await of('terra-api')).verifyTerraWebhookSignature(body, header('terra-signature'), secret),
  cronofy: async ({ of, secret, header, body }) =>
    new (await of('cronofy'))({}).hmacValid({ hmac: header('cronofy-hmac-sha256'), body, client_secret: secret }),
  mollie: async ({ of, secret, header, body }) =>
    (await of('mollie-api-typescript')).SignatureValidator.validate(body, secret, header('x-mollie-signature')),
  creem: async ({ of, secret, lower, body }) =>
    (await of('creem/webhooks')).verifyWebhookSignature(body, lower, secret),
  whop: async ({ of, secret, lower, body }) =>
    new (await of('@whop/sdk')).Whop({ apiKey: 'k', webhookKey: standardBase64(secret) }).webhooks.unwrap(body, {
      headers: lower,
    }),
  nango: async ({ of, secret, headers, body }) =>
    new (await of('@nangohq/node')).Nango({ secretKey: secret }).verifyIncomingWebhookRequest(body, headers),
  'kontent-ai': async ({ of, secret, header, body }) =>
    (await of('@kontent-ai/webhook-helper')).signatureHelper.isValidSignatureFromString(
      body,
      secret,
      header('x-kontent-ai-signature'),
    ),
  signalwire: async ({ of, secret, header, url, body }) =>
    (await of('@signalwire/compatibility-api')).RestClient.validateRequest(
      secret,
      header('x-signalwire-signature'),
      url,
      Object.fromEntries(new URLSearchParams(body)),
    ),
  plivo: async ({ of, secret, header, url, body }) =>
    (await of('plivo')).validateV3Signature(
      'POST',
      url,
      header('x-plivo-signature-v3-nonce'),
      secret,
      header('x-plivo-signature-v3'),
      Object.fromEntries(new URLSearchParams(body)),
    ),

  // Providers that had a preset before.
  stripe: async ({ of, secret, header, body }) =>
    new (await of('stripe'))('sk_test_x').webhooks.constructEvent(body, header('stripe-signature'), secret),
  github: async ({ of, secret, header, body }) =>
    (await of('@octokit/webhooks-methods')).verify(secret, body, header('x-hub-signature-256')),
  sanity: async ({ of, secret, header, body }) =>
    (await of('@sanity/webhook')).assertValidSignature(body, header('sanity-webhook-signature'), secret),
  'standard-webhooks': async ({ of, secret, lower, body }) =>
    new (await of('standardwebhooks')).Webhook(secret).verify(body, lower),
  svix: async ({ of, secret, lower, body }) => new (await of('svix')).Webhook(secret).verify(body, lower),
  clerk: async ({ of, secret, headers, body, url }) =>
    (await of('@clerk/backend/webhooks')).verifyWebhook(new Request(url, { method: 'POST', headers, body }), {
      signingSecret: secret,
    }),
  resend: async ({ of, secret, header, body }) =>
    new (await of('resend')).Resend('re_x').webhooks.verify({
      payload: body,
      headers: { id: header('svix-id'), timestamp: header('svix-timestamp'), signature: header('svix-signature') },
      webhookSecret: secret,
    }),
  openai: async ({ of, secret, lower, body }) =>
    new (await of('openai')).OpenAI({ apiKey: 'k' }).webhooks.verifySignature(body, lower, secret),
  anthropic: async ({ of, secret, lower, body }) =>
    new (await of('@anthropic-ai/sdk')).Anthropic({ apiKey: 'k', webhookKey: secret }).beta.webhooks.unwrap(body, {
      headers: lower,
    }),
  replicate: async ({ of, secret, header, body }) =>
    (await of('replicate')).validateWebhook({
      id: header('webhook-id'),
      timestamp: header('webhook-timestamp'),
      signature: header('webhook-signature'),
      body,
      secret,
    }),
  'dodo-payments': async ({ of, secret, lower, body }) =>
    new (await of('dodopayments')).DodoPayments({ bearerToken: 'k', webhookKey: secret }).webhooks.unwrap(body, {
      headers: lower,
    }),
  increase: async ({ of, secret, lower, body }) =>
    new (await of('standardwebhooks')).Webhook(secret).verify(body, lower),
  lithic: async ({ of, secret, lower, body }) =>
    new (await of('lithic')).Lithic({ apiKey: 'k', webhookSecret: secret }).webhooks.verifySignature(body, lower),
  polar: async ({ of, secret, lower, body }) =>
    new (await of('standardwebhooks')).Webhook(standardBase64(secret)).verify(body, lower),
  'supabase-auth': async ({ of, secret, lower, body }) =>
    new (await of('standardwebhooks')).Webhook(secret).verify(body, lower),
  livekit: async ({ of, secret, header, body }) =>
    new (await of('livekit-server-sdk')).WebhookReceiver('APIkey', secret).receive(body, header('authorization')),
  shopify: async ({ of, secret, header, body }) => {
    await of('@shopify/shopify-api/adapters/node')
    const { shopifyApi, ApiVersion } = await of('@shopify/shopify-api')
    const api = shopifyApi({
      apiKey: 'k',
      apiSecretKey: secret,
      hostName: 'h.example',
      isEmbeddedApp: true,
      apiVersion: Object.values(ApiVersion)[0],
    })
    const headers = { 'x-shopify-hmac-sha256': header('x-shopify-hmac-sha256') }
    const rest = { 'x-shopify-topic': 'a/b', 'x-shopify-api-version': 'x', 'x-shopify-shop-domain': 's' }
    const { valid } = await api.webhooks.validate({
      rawBody: body,
      rawRequest: { method: 'POST', url: '/', headers: { ...rest, ...headers, 'x-shopify-webhook-id': '1' } },
    })
    return valid
  },
  slack: async ({ of, secret, lower, body }) =>
    (await of('@slack/bolt')).verifySlackRequest({ signingSecret: secret, body, headers: timesAsNumbers(lower) }) ===
    undefined,
  linear: async ({ of, secret, header, bytes }) =>
    new (await of('@linear/sdk/webhooks')).LinearWebhookClient(secret).verify(bytes, header('linear-signature')),
  gocardless: async ({ of, secret, header, body }) =>
    (await of('gocardless-nodejs/webhooks')).parse(body, secret, header('webhook-signature')),
  razorpay: async ({ of, secret, header, body }) =>
    (await of('razorpay')).validateWebhookSignature(body, header('x-razorpay-signature'), secret),
  'coinbase-commerce': async ({ of, secret, header, body }) =>
    (await of('coinbase-commerce-node')).Webhook.verifySigHeader(body, header('x-cc-webhook-signature'), secret) ??
    true,
  easypost: async ({ of, secret, headers, bytes }) =>
    new (await of('@easypost/api'))('k').Utils.validateWebhook(bytes, headers, secret),
  'modern-treasury': async ({ of, secret, lower, body }) =>
    new (await of('modern-treasury')).ModernTreasury({ apiKey: 'k', organizationID: 'o' }).webhooks.validateSignature(
      body,
      lower,
      { key: secret },
    ),
  line: async ({ of, secret, header, body }) =>
    (await of('@line/bot-sdk')).validateSignature(body, secret, header('x-line-signature')),
  pusher: async ({ of, secret, lower, body }) =>
    new (await of('pusher'))({ appId: '1', key: 'k', secret, cluster: 'eu' })
      .webhook({ headers: { ...lower, 'x-pusher-key': 'k', 'content-type': 'application/json' }, rawBody: body })
      .isValid(),
  paddle: async ({ of, secret, header, body }) =>
    new (await of('@paddle/paddle-node-sdk')).Paddle('k').webhooks.isSignatureValid(
      body,
      secret,
      header('paddle-signature'),
    ),
  mux: async ({ of, secret, lower, body }) =>
    new (await of('@mux/mux-node')).Mux({ tokenId: 'a', tokenSecret: 'b' }).webhooks.verifySignature(
      body,
      lower,
      secret,
    ),
  workos: async ({ of, secret, header, body }) =>
    new (await of('@workos-inc/node')).WorkOS('sk_x').webhooks.verifyHeader({
      payload: JSON.parse(body),
      sigHeader: header('workos-signature'),
      secret,
    }),
  elevenlabs: async ({ of, secret, header, body }) =>
    new (await of('@elevenlabs/elevenlabs-js')).ElevenLabsClient({ apiKey: 'k' }).webhooks.constructEvent(
      body,
      header('elevenlabs-signature'),
      secret,
    ),
  retell: async ({ of, secret, header, body }) =>
    (await of('retell-sdk')).Retell.verify(body, secret, header('x-retell-signature')),
  webflow: async ({ of, secret, lower, body }) =>
    new (await of('webflow-api')).WebflowClient({ accessToken: 'k' }).webhooks.verifySignature({
      headers: lower,
      body,
      secret,
    }),
  orb: async ({ of, secret, lower, body }) =>
    new (await of('orb-billing')).Orb({ apiKey: 'k' }).webhooks.verifySignature(body, lower, secret),
  finch: async ({ of, secret, lower, body }) =>
    new (await of('@tryfinch/finch-api')).Finch({ accessToken: 'k' }).webhooks.verifySignature(body, lower, secret),
  'adyen-platform': async ({ of, secret, header, body }) =>
    new (await of('@adyen/api-library')).hmacValidator().validateHMACSignature(secret, header('hmacsignature'), body),
  square: async ({ of, secret, header, url, body }) =>
    (await of('square')).WebhooksHelper.verifySignature({
      requestBody: body,
      signatureHeader: header('x-square-hmacsha256-signature'),
      signatureKey: secret,
      notificationUrl: url,
    }),
  twilio: async ({ of, secret, header, url, body }) =>
    (await of('twilio')).validateRequest(
      secret,
      header('x-twilio-signature'),
      url,
      Object.fromEntries(new URLSearchParams(body)),
    ),
  hookdeck: async ({ of, secret, lower, body }) => {
    const { verifyWebhookSignature } = await of('@hookdeck/sdk/webhooks/helpers')
    return (await verifyWebhookSignature({ headers: lower, rawBody: body, signingSecret: secret })).isValidSignature
  },
  telnyx: async ({ of, secret, lower, body }) =>
    new (await of('telnyx')).Telnyx({ apiKey: 'k', publicKey: secret }).webhooks.unwrap(body, { headers: lower }),
  sendgrid: async ({ of, secret, header, body }) => {
    const webhook = new (await of('@sendgrid/eventwebhook')).EventWebhook()
    return webhook.verifySignature(
      webhook.convertPublicKeyToECDSA(secret),
      body,
      header('x-twilio-email-event-webhook-signature'),
      header('x-twilio-email-event-webhook-timestamp'),
    )
  },
  discord: async ({ of, secret, header, body }) =>
    (await of('discord-interactions')).verifyKey(
      body,
      header('x-signature-ed25519'),
      header('x-signature-timestamp'),
      secret,
    ),
}

function timesAsNumbers(headers: Readonly<Record<string, string>>): Record<string, string | number> {
  const name = 'x-slack-request-timestamp'
  return { ...headers, [name]: Number(headers[name]) }
}

const PUBLIC = 'https://hooks.example.com'
const proofs = new URL('../packages/verify/presets/proofs/', import.meta.url)
const folders = process.argv.slice(2).filter((word) => !word.startsWith('--'))
if (folders.length === 0) throw new Error('Name the folder that has the libraries in its node_modules.')

async function load(name: string): Promise<unknown> {
  for (const folder of folders) {
    const file = fileOf(resolve(folder), name)
    // oxlint-disable-next-line no-await-in-loop -- the first folder that has it
    if (file !== undefined) return moduleOf(await import(pathToFileURL(file).href))
  }
  throw new Error(`${name} is in none of these folders`)
}

function fileOf(folder: string, name: string): string | undefined {
  try {
    return createRequire(resolve(folder, 'package.json')).resolve(name)
  } catch {
    // A package of ECMAScript modules alone.
    const manifest = resolve(folder, 'node_modules', name, 'package.json')
    return existsSync(manifest)
      ? resolve(manifest, '..', entryOf(JSON.parse(readFileSync(manifest, 'utf8'))))
      : undefined
  }
}

type Entry = string | { readonly [condition: string]: Entry }

function entryOf({ exports, main = 'index.js' }: { exports?: Entry; main?: string }): string {
  const pick = (entry: Entry): string => {
    if (typeof entry === 'string') return entry
    const next = entry['.'] ?? entry['node'] ?? entry['import'] ?? entry['default']
    return next === undefined ? main : pick(next)
  }
  return exports === undefined ? main : pick(exports)
}

/** A CommonJS module has its members behind `default`. */
function moduleOf(loaded: Readonly<Record<string, unknown>>): unknown {
  const whole = loaded['default']
  const isAlone = Object.keys(loaded).every((key) => /^(?:default|module\.exports)$/.test(key))
  if (isAlone && whole !== undefined) return whole
  return typeof whole === 'object' ? { ...whole, ...loaded } : loaded
}

/** The clock of this machine stands at the time of the proof while a library looks at it. */
async function at<Result>(seconds: number | undefined, work: () => Promise<Result>): Promise<Result> {
  const real = Date
  if (seconds === undefined) return work()
  const now = (): number => seconds * 1_000
  globalThis.Date = new Proxy(real, {
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    construct: (target, given) => Reflect.construct(target, given.length === 0 ? [now()] : given),
  })
  try {
    return await work()
  } finally {
    globalThis.Date = real
  }
}

let failed = 0
for (const file of readdirSync(proofs)) {
  const id = file.replace('.json', '')
  const check = CHECKS[id]
  if (check === undefined) continue
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the files of the proofs
  const proof = JSON.parse(readFileSync(new URL(file, proofs), 'utf8')) as Proof & { readonly now?: number }
  const lower = Object.fromEntries(Object.entries(proof.headers).map(([name, value]) => [name.toLowerCase(), value]))
  const header = (name: string): string => lower[name] ?? ''
  const url = PUBLIC + (proof.path ?? `/${id}`)
  try {
    // oxlint-disable-next-line no-await-in-loop -- they share the clock
    const said = await at(proof.now, async () =>
      check({ ...proof, of: load, lower, header, url, bytes: Buffer.from(proof.body) }),
    )
    if (said === false) throw new Error('the library refused it')
    console.log(`ok      ${id}`)
  } catch (error) {
    failed += 1
    console.log(`FAILED  ${id}: ${String(error).split('\n')[0]}`)
  }
}
process.exitCode = failed === 0 ? 0 : 1
