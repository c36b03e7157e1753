import { bySvix, byStandardWebhooks, standardBase64, type Check } from './preset-libraries.ts'

/** The rest of the libraries. */
export const MORE_LIBRARIES: Readonly<Record<string, Check>> = {
  box: async ({ of, secret, lower, body }) =>
    (await of('box-node-sdk/managers/webhooks')).WebhooksManager.validateMessage(body, lower, secret),
  stripe: async ({ of, secret, header, body }) =>
    new (await of('stripe'))('sk_test_x').webhooks.constructEvent(body, header('stripe-signature'), secret),
  github: async ({ of, secret, header, body }) =>
    (await of('@octokit/webhooks-methods')).verify(secret, body, header('x-hub-signature-256')),
  sanity: async ({ of, secret, header, body }) =>
    (await of('@sanity/webhook')).assertValidSignature(body, header('sanity-webhook-signature'), secret),
  'standard-webhooks': byStandardWebhooks,
  svix: bySvix,
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
  increase: byStandardWebhooks,
  lithic: async ({ of, secret, lower, body }) =>
    new (await of('lithic')).Lithic({ apiKey: 'k', webhookSecret: secret }).webhooks.verifySignature(body, lower),
  polar: async ({ of, secret, lower, body }) =>
    new (await of('standardwebhooks')).Webhook(standardBase64(secret)).verify(body, lower),
  'supabase-auth': byStandardWebhooks,
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
  chargebee: async ({ of, secret, lower }) => {
    const { basicAuthValidator } = await of('chargebee/cjs/resources/webhook/auth.js')
    return basicAuthValidator((user: string, password: string) => `${user}:${password}` === secret)(lower)
  },
  mailgun: async ({ of, secret, body }) => {
    const { timestamp, token, signature } = JSON.parse(body).signature
    return (await of('mailgun-js'))({ apiKey: secret, domain: 'a' }).validateWebhook(timestamp, token, signature)
  },
  'mailgun-routes': async ({ of, secret, body }) => {
    const { timestamp, token, signature } = Object.fromEntries(new URLSearchParams(body))
    return (await of('mailgun-js'))({ apiKey: secret, domain: 'a' }).validateWebhook(timestamp, token, signature)
  },
  adyen: async ({ of, secret, body }) => {
    const { default: HmacValidator } = await of('@adyen/api-library/lib/src/utils/hmacValidator.js')
    return new HmacValidator().validateHMAC(JSON.parse(body).notificationItems[0].NotificationRequestItem, secret)
  },
  'trigger-dev': async ({ of, secret, headers, body, url }) =>
    (await of('@trigger.dev/sdk')).webhooks.constructEvent(new Request(url, { method: 'POST', headers, body }), secret),
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
