import type { HandshakeForm, HandshakeKind } from './handshake-form.ts'

/** The forms behind the kinds, and the forms of well-known providers that have no kind. */

type Answer = HandshakeForm['answer']
type Place = { readonly header: string } | { readonly query: string } | { readonly body_path: string }

export type KindForm = HandshakeForm & {
  /** The place of a token that is compared only if the endpoint has one, beside the proof. */
  readonly optional_token?: Place
  /** The answer follows a request to the SubscribeURL of a message that Amazon SNS signed. */
  readonly confirms?: 'aws_sns'
}

const text = (body: string): Answer => ({ status: 200, content_type: 'text/plain', headers: {}, body })
const json = (body: string): Answer => ({ status: 200, content_type: 'application/json', headers: {}, body })
const SIGNED = { kind: 'signature' } as const

export const HANDSHAKE_FORMS: { readonly [Kind in Exclude<HandshakeKind, 'custom'>]: readonly KindForm[] } = {
  none: [],
  hub_challenge: [
    {
      when: { method: 'GET', query: ['hub.challenge', { name: 'hub.mode', equals: 'subscribe' }] },
      proof: { kind: 'token', query: 'hub.verify_token' },
      answer: text('{{ query.hub.challenge }}'),
    },
  ],
  url_verification: [
    {
      when: { method: 'POST', body_path: ['challenge', { path: 'type', equals: 'url_verification' }] },
      proof: SIGNED,
      optional_token: { body_path: 'token' },
      answer: text('{{ body.challenge }}'),
    },
  ],
  sns_subscription: [
    {
      when: { method: 'POST', body_path: ['SubscribeURL', { path: 'Type', equals: 'SubscriptionConfirmation' }] },
      proof: SIGNED,
      answer: text(''),
      confirms: 'aws_sns',
    },
  ],
  // Webhook events ask with type 0. Interactions ask with type 1 and want it back; type 1 of webhook events has an event.
  discord_ping: [
    {
      when: { method: 'POST', body_path: { path: 'type', equals: 0 } },
      proof: SIGNED,
      answer: { ...json(''), status: 204 },
    },
    {
      when: {
        method: 'POST',
        body_path: [
          { path: 'type', equals: 1 },
          { path: 'event', absent: true },
        ],
      },
      proof: SIGNED,
      answer: json('{"type":1}'),
    },
  ],
  zoom_validation: [
    {
      when: { method: 'POST', body_path: { path: 'event', equals: 'endpoint.url_validation' } },
      proof: SIGNED,
      answer: json(
        '{"plainToken":"{{ body.payload.plainToken }}","encryptedToken":"{{ hmac_sha256 body.payload.plainToken }}"}',
      ),
    },
  ],
  twitch_challenge: [
    {
      when: {
        method: 'POST',
        header: { name: 'Twitch-Eventsub-Message-Type', equals: 'webhook_callback_verification' },
        body_path: 'challenge',
      },
      proof: SIGNED,
      answer: text('{{ body.challenge }}'),
    },
  ],
}

export type KnownHandshake = { readonly id: string; readonly name: string; readonly form: HandshakeForm }

/** Forms to start from: the questions of providers, read from their documentation. */
export const KNOWN_HANDSHAKES: readonly KnownHandshake[] = [
  {
    id: 'asana',
    name: 'Asana',
    form: {
      when: { method: 'POST', header: 'X-Hook-Secret' },
      proof: null,
      answer: { ...text(''), headers: { 'X-Hook-Secret': '{{ header.x-hook-secret }}' } },
    },
  },
  {
    id: 'cloudevents',
    name: 'CloudEvents',
    form: {
      when: { method: 'OPTIONS', header: 'WebHook-Request-Origin' },
      proof: null,
      answer: {
        ...text(''),
        headers: {
          'WebHook-Allowed-Origin': '{{ header.webhook-request-origin }}',
          'WebHook-Allowed-Rate': '{{ header.webhook-request-rate | default: "*" }}',
        },
      },
    },
  },
  {
    id: 'dropbox',
    name: 'Dropbox, Nylas',
    form: { when: { method: 'GET', query: 'challenge' }, proof: null, answer: text('{{ query.challenge }}') },
  },
  {
    id: 'ebay',
    name: 'eBay',
    form: {
      when: { method: 'GET', query: 'challenge_code' },
      proof: null,
      answer: json('{"challengeResponse":"{{ sha256 query.challenge_code verify_token url }}"}'),
    },
  },
  {
    id: 'event-grid',
    name: 'Azure Event Grid',
    form: {
      when: {
        method: 'POST',
        body_path: { path: '0.eventType', equals: 'Microsoft.EventGrid.SubscriptionValidationEvent' },
      },
      proof: null,
      answer: json('{"validationResponse":"{{ body.0.data.validationCode }}"}'),
    },
  },
  {
    id: 'lark',
    name: 'Lark, Feishu',
    form: {
      when: { method: 'POST', body_path: ['challenge', { path: 'type', equals: 'url_verification' }] },
      proof: { kind: 'token', body_path: 'token' },
      answer: json('{"challenge":"{{ body.challenge }}"}'),
    },
  },
  {
    id: 'microsoft-graph',
    name: 'Microsoft Graph',
    form: {
      when: { method: 'POST', query: 'validationToken' },
      proof: null,
      answer: text('{{ query.validationToken }}'),
    },
  },
  {
    id: 'monday',
    name: 'monday.com',
    form: {
      when: { method: 'POST', body_path: 'challenge' },
      proof: null,
      answer: json('{"challenge":"{{ body.challenge }}"}'),
    },
  },
  {
    id: 'okta',
    name: 'Okta',
    form: {
      when: { method: 'GET', header: 'X-Okta-Verification-Challenge' },
      proof: null,
      answer: json('{"verification":"{{ header.x-okta-verification-challenge }}"}'),
    },
  },
  {
    id: 'smartsheet',
    name: 'Smartsheet',
    form: {
      when: { method: 'POST', header: 'Smartsheet-Hook-Challenge' },
      proof: null,
      answer: json('{"smartsheetHookResponse":"{{ header.smartsheet-hook-challenge }}"}'),
    },
  },
  {
    id: 'strava',
    name: 'Strava',
    form: {
      when: { method: 'GET', query: ['hub.challenge', { name: 'hub.mode', equals: 'subscribe' }] },
      proof: { kind: 'token', query: 'hub.verify_token' },
      answer: json('{"hub.challenge":"{{ query.hub.challenge }}"}'),
    },
  },
  {
    id: 'websub',
    name: 'WebSub (hub.challenge without a token)',
    form: {
      when: { method: 'GET', query: ['hub.challenge', 'hub.mode'] },
      proof: null,
      answer: text('{{ query.hub.challenge }}'),
    },
  },
  {
    id: 'x',
    name: 'X (crc_token)',
    form: {
      when: { method: 'GET', query: 'crc_token' },
      proof: null,
      answer: json('{"response_token":"sha256={{ hmac_sha256 query.crc_token base64 }}"}'),
    },
  },
]
