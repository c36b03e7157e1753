import { createSecretKey } from 'node:crypto'

/** How the library of each provider checks a request. `by` of a proof that is not here names a page, or a library of another language. */

export type Proof = {
  readonly by: string
  readonly secret: string
  readonly path?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
/** The request as a library wants it. `of` loads a package, and `now` is the time of the proof. */
export type Checked = Proof & {
  // oxlint-disable-next-line typescript/no-explicit-any -- libraries that are not installed have no types
  readonly of: (name: string) => Promise<any>
  /** The value of a header. */
  readonly header: (name: string) => string
  readonly lower: Readonly<Record<string, string>>
  readonly url: string
  readonly bytes: Buffer
}
/** Throws, or returns false, for a request that the library does not accept. */
export type Check = (proof: Checked) => unknown

export const standardBase64 = (text: string): string => Buffer.from(text).toString('base64')

export const bySvix: Check = async ({ of, secret, lower, body }) =>
  new (await of('svix')).Webhook(secret).verify(body, lower)
export const byStandardWebhooks: Check = async ({ of, secret, lower, body }) =>
  new (await of('standardwebhooks')).Webhook(secret).verify(body, lower)

const worldline =
  (name: string): Check =>
  async ({ of, secret, headers, bytes }) =>
    (await of(name)).newSignatureValidator({ getSecretKey: async () => secret }).validate(bytes, headers)

export const LIBRARIES: Readonly<Record<string, Check>> = {
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

  todoist: async ({ of, secret, header, body }) =>
    (await of('@doist/todoist-sdk')).verifyWebhookSignature({
      rawBody: body,
      signature: header('x-todoist-hmac-sha256'),
      clientSecret: secret,
    }),
  front: async ({ of, secret, header, body }) =>
    new (await of('front-sdk')).Front('key', secret).validateEventSignature(
      JSON.parse(body),
      header('x-front-signature'),
    ),
  acuity: async ({ of, secret, header, body }) =>
    (await of('acuityscheduling')).verifyMessageSignature(secret, body, header('x-acuity-signature')),
  lightspark: async ({ of, secret, header, bytes }) =>
    (await of('@lightsparkdev/lightspark-sdk')).verifyAndParseWebhook(bytes, header('lightspark-signature'), secret),
  privy: async ({ of, secret, lower, body }) =>
    new (await of('@privy-io/node')).PrivyClient({ appId: 'a', appSecret: 's', webhookSigningSecret: secret })
      .webhooks()
      .verify({ payload: body, headers: lower }),
  imagekit: async ({ of, secret, lower, body }) =>
    new (await of('@imagekit/nodejs')).ImageKit({ privateKey: 'k', webhookSecret: secret }).webhooks.unwrap(body, {
      headers: lower,
    }),
  shopware: async ({ of, secret, header, body }) =>
    new (await of('@shopware-ag/app-server-sdk/dist/esm/signer.js')).WebCryptoHmacSigner().verify(
      header('shopware-shop-signature'),
      body,
      secret,
    ),
  crossmint: bySvix,
  recall: bySvix,
  uphold: bySvix,
  goody: bySvix,
  scrapeless: bySvix,
  signatureapi: byStandardWebhooks,
  ahasend: byStandardWebhooks,
  'worldline-connect': worldline('connect-sdk-nodejs/lib/webhooks/validation.js'),
  'worldline-direct': worldline('onlinepayments-sdk-nodejs/lib/cjs/src/webhooks/validation.js'),
  readme: async ({ of, secret, header, body }) =>
    (await of('readmeio')).verifyWebhook(JSON.parse(body), header('readme-signature'), secret),
  mailtrap: async ({ of, secret, header, body }) =>
    (await of('mailtrap')).verifyWebhookSignature(body, header('mailtrap-signature'), secret),
  flowglad: async ({ of, secret, lower, body }) =>
    (await of('@flowglad/server')).verifyWebhook(body, lower, secret) ?? true,
  foxy: async ({ of, secret, header, body }) =>
    (await of('@foxy.io/sdk/dist/cjs/backend/verifyWebhookSignature.js')).verifyWebhookSignature({
      key: secret,
      payload: body,
      signature: header('foxy-webhook-signature'),
    }),
  ordercloud: async ({ of, secret, lower, body }) =>
    (await of('@ordercloud/catalyst')).isOcHashValid({ rawBody: body, headers: lower }, secret),
  lettermint: async ({ of, secret, header, body }) =>
    new (await of('lettermint')).Webhook(secret).verify(body, header('x-lettermint-signature')),
  jambonz: async ({ of, secret, header, bytes: body }) => {
    const { WebhookResponse } = await of('@jambonz/node-client')
    const get = (name: string): string => header(name.toLowerCase())
    WebhookResponse.verifyJambonzSignature(secret)({ get, body }, {}, () => undefined)
  },
  'open-wearables': bySvix,
  forebit: bySvix,
  'sohar-health': bySvix,
  scalekit: async ({ of, secret, lower, body }) =>
    (await of('@scalekit-sdk/node')).ScalekitClient.prototype.verifyWebhookPayload.call(
      Object.create((await of('@scalekit-sdk/node')).ScalekitClient.prototype),
      secret,
      lower,
      body,
    ),
  composio: async ({ of, secret, header, body }) =>
    new (await of('@composio/core')).Composio({ apiKey: 'k', allowTracking: false }).triggers.verifyWebhook({
      payload: body,
      signature: header('webhook-signature'),
      secret,
      id: header('webhook-id'),
      timestamp: header('webhook-timestamp'),
    }),
  gr4vy: async ({ of, secret, header, body }) =>
    (await of('@gr4vy/sdk')).verifyWebhook(
      body,
      secret,
      header('x-gr4vy-webhook-signatures'),
      header('x-gr4vy-webhook-timestamp'),
      300,
    ),
  cloudconvert: async ({ of, secret, header, body }) =>
    new (await of('cloudconvert/built/lib/WebhooksResource.js')).default().verify(
      body,
      header('cloudconvert-signature'),
      secret,
    ),
  fingerprint: async ({ of, secret, header, bytes: data }) =>
    (await of('@fingerprint/node-sdk')).isValidWebhookSignature({
      header: header('fpjs-event-signature'),
      data,
      secret,
    }),
  seam: async ({ of, secret, headers, body }) =>
    new (await of('@seamapi/webhook')).SeamWebhook(secret).verify(body, headers),
  blockfrost: async ({ of, secret, header, body }) =>
    (await of('@blockfrost/blockfrost-js')).verifyWebhookSignature(body, header('blockfrost-signature'), secret),
  memberstack: async ({ of, secret, lower, body }) =>
    (await of('@memberstack/admin')).init('sk_sb_0').verifyWebhookSignature({
      headers: Object.fromEntries(Object.entries(lower).map(([name, value]) => [name.toUpperCase(), value])),
      secret,
      payload: JSON.parse(body),
    }),
}
