import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { KNOWN_HANDSHAKES } from '@postroad/contract'
import { requestBytes } from './raw-http.ts'
import type { SenderCase } from './sender-cases.ts'

/** The questions that providers ask before they send events, and the answers that they expect. Nothing is stored. */

const JSON_TYPE = { 'Content-Type': 'application/json' }
const TEXT = { status: 200, content_type: 'text/plain' }
const AS_JSON = { status: 200, content_type: 'application/json' }

/** A handshake in the declarative form, without a kind. */
const answers = (when: object, answer: object): SenderCase['webhook'] => ({ handshake: { when, answer } })

/** A handshake of the list that the console offers. */
function known(id: string, more: object = {}): SenderCase['webhook'] {
  const { form } = KNOWN_HANDSHAKES.find((one) => one.id === id) ?? assert.fail(id)
  return { handshake: { kind: 'custom', ...form, ...more } }
}

type Asked = Omit<Parameters<typeof requestBytes>[0], 'path'> & { readonly query?: string }
const one =
  ({ query = '', ...request }: Asked): SenderCase['requests'] =>
  ({ path }) => [requestBytes({ ...request, path: path + query })]

const text = (body: string) => [{ status: 200, type: 'text/plain', body }]
const json = (body: string) => [{ status: 200, type: 'application/json', body }]

const EVENT_GRID =
  '[{"id":"2d1781af","topic":"/subscriptions/1","data":{"validationCode":"512d38b6","validationUrl":"https://e.example"},' +
  '"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","dataVersion":"1"}]'

const BODIES: readonly SenderCase[] = [
  {
    name: '27: Microsoft Graph asks with a validation token in the query',
    webhook: answers({ method: 'POST', query: 'validationToken' }, { ...TEXT, body: '{{ query.validationToken }}' }),
    requests: one({
      query: '?validationToken=Validation%3a%20Testing%20a%20b%2b1',
      headers: { 'Content-Type': 'text/plain' },
    }),
    right: text('Validation: Testing a b+1'),
    payloads: [],
  },
  {
    name: '27: an endpoint for Microsoft Graph takes its notifications',
    webhook: known('microsoft-graph'),
    requests: one({ headers: JSON_TYPE, body: '{"value":[{"changeType":"created"}]}' }),
    right: [{ status: 201 }],
    payloads: ['{"value":[{"changeType":"created"}]}'],
  },
  {
    name: '28b: Event Grid validates a subscription',
    webhook: answers(
      { method: 'POST', body_path: '0.data.validationCode' },
      { ...AS_JSON, body: '{"validationResponse":"{{ body.0.data.validationCode }}"}' },
    ),
    requests: one({ headers: JSON_TYPE, body: EVENT_GRID }),
    right: json('{"validationResponse":"512d38b6"}'),
    payloads: [],
  },
  {
    name: '28b: an endpoint for Event Grid takes its events, even those with a validation code',
    webhook: known('event-grid'),
    requests: ({ path }) =>
      [EVENT_GRID, '[{"eventType":"Order.Created","data":{"validationCode":"1"}}]'].map((body) =>
        requestBytes({ path, headers: JSON_TYPE, body }),
      ),
    right: [...json('{"validationResponse":"512d38b6"}'), { status: 201 }],
    payloads: ['[{"eventType":"Order.Created","data":{"validationCode":"1"}}]'],
  },
  {
    name: '29: monday.com gets the same JSON back',
    webhook: answers({ body_path: 'challenge' }, { ...AS_JSON, body: '{"challenge":"{{ body.challenge }}"}' }),
    requests: one({ headers: JSON_TYPE, body: '{"challenge":"x"}' }),
    right: json('{"challenge":"x"}'),
    payloads: [],
  },
  {
    name: 'Lark sends a token in the body',
    webhook: known('lark', { verify_token: 'tok' }),
    requests: ({ path }) =>
      ['tok', 'other'].map((token) =>
        requestBytes({
          path,
          headers: JSON_TYPE,
          body: `{"challenge":"ajls384kdjx98XX","token":"${token}","type":"url_verification"}`,
        }),
      ),
    right: [...json('{"challenge":"ajls384kdjx98XX"}'), { status: 403 }],
    payloads: [],
  },
]

const HEADERS: readonly SenderCase[] = [
  {
    name: '29: Asana gets its header back, before it has told the secret',
    webhook: {
      ...known('asana'),
      verification: { scheme: 'hmac', header: 'X-Hook-Signature', without_secret: true },
    },
    requests: one({ headers: { 'X-Hook-Secret': 'b537207f20cbfa02357cf448134da559', 'Content-Type': 'text/plain' } }),
    right: [{ status: 200, body: '', headers: { 'x-hook-secret': 'b537207f20cbfa02357cf448134da559' } }],
    payloads: [],
  },
  {
    name: '29: Okta sends its question in a header',
    webhook: answers(
      { method: 'GET', header: 'X-Okta-Verification-Challenge' },
      { ...AS_JSON, body: '{"verification":"{{ header.x-okta-verification-challenge }}"}' },
    ),
    requests: one({ method: 'GET', headers: { 'X-Okta-Verification-Challenge': 'q1' } }),
    right: json('{"verification":"q1"}'),
    payloads: [],
  },
  {
    name: 'Smartsheet sends its question in a header of a POST',
    webhook: known('smartsheet'),
    requests: one({
      headers: { ...JSON_TYPE, 'Smartsheet-Hook-Challenge': 'd78dd1d3-01ce' },
      body: '{"challenge":"d78dd1d3-01ce","webhookId":1}',
    }),
    right: json('{"smartsheetHookResponse":"d78dd1d3-01ce"}'),
    payloads: [],
  },
  {
    name: 'CloudEvents asks by OPTIONS for an origin and a rate; a callback is not needed',
    webhook: known('cloudevents'),
    requests: one({
      method: 'OPTIONS',
      headers: {
        'WebHook-Request-Origin': 'eventemitter.example.com',
        'WebHook-Request-Rate': '120',
        'WebHook-Request-Callback': 'https://eventemitter.example.com/confirm?id=12345&key=x',
      },
    }),
    right: [
      {
        status: 200,
        body: '',
        headers: {
          'webhook-allowed-origin': 'eventemitter.example.com',
          'webhook-allowed-rate': '120',
          allow: 'POST, HEAD, OPTIONS',
        },
      },
    ],
    payloads: [],
  },
  {
    name: 'CloudEvents asks without a rate, and is granted any; a preflight of a browser is answered as before',
    webhook: known('cloudevents'),
    requests: ({ path }) => [
      requestBytes({ method: 'OPTIONS', path, headers: { 'WebHook-Request-Origin': 'eventgrid.azure.net' } }),
      requestBytes({
        method: 'OPTIONS',
        path,
        headers: { Origin: 'https://shop.example', 'Access-Control-Request-Method': 'POST' },
      }),
    ],
    right: [
      {
        status: 200,
        headers: { 'webhook-allowed-origin': 'eventgrid.azure.net', 'webhook-allowed-rate': '*' },
      },
      { status: 204, headers: { 'access-control-allow-methods': 'POST' } },
    ],
    payloads: [],
  },
  {
    name: 'Worldline Connect sends its question in a header of a GET',
    webhook: { preset: 'worldline-connect', secret: 'a secret of the sender' },
    requests: one({ method: 'GET', headers: { 'X-GCS-Webhooks-Endpoint-Verification': 'abcd-1234' } }),
    right: text('abcd-1234'),
    payloads: [],
  },
]

const mac = (secret: string, question: string): string => createHmac('sha256', secret).update(question).digest('base64')

const QUERIES: readonly SenderCase[] = [
  {
    name: '29: Dropbox asks with a challenge in the query of a GET',
    webhook: answers({ method: 'GET', query: 'challenge' }, { ...TEXT, body: '{{ query.challenge }}' }),
    requests: one({ method: 'GET', query: '?challenge=abc123' }),
    right: [{ status: 200, type: 'text/plain', body: 'abc123', headers: { 'x-content-type-options': 'nosniff' } }],
    payloads: [],
  },
  {
    name: 'WebSub asks for a subscription, and for its end, without a token',
    webhook: known('websub'),
    requests: ({ path }) =>
      ['subscribe', 'unsubscribe'].map((mode) =>
        requestBytes({
          method: 'GET',
          path: `${path}?hub.mode=${mode}&hub.topic=https%3A%2F%2Fblog.example%2F&hub.challenge=c%26${mode}`,
        }),
      ),
    right: [...text('c&subscribe'), ...text('c&unsubscribe')],
    payloads: [],
  },
  {
    name: 'Strava gets a hub.challenge back as JSON',
    webhook: known('strava', { verify_token: 'STRAVA' }),
    requests: one({
      method: 'GET',
      query: '?hub.verify_token=STRAVA&hub.challenge=15f7d1a91c1f40f8a748fd134752feb3&hub.mode=subscribe',
    }),
    right: json('{"hub.challenge":"15f7d1a91c1f40f8a748fd134752feb3"}'),
    payloads: [],
  },
  {
    name: 'X checks the endpoint with a token that it signs',
    webhook: { ...known('x'), verification: { scheme: 'hmac', secret: 'consumer' } },
    requests: one({ method: 'GET', query: '?crc_token=MTM4NmY4Zjk%3D&nonce=1' }),
    right: json(`{"response_token":"sha256=${mac('consumer', 'MTM4NmY4Zjk=')}"}`),
    payloads: [],
  },
  {
    name: 'eBay wants a hash of its code, the verify token and the URL',
    webhook: known('ebay', { verify_token: 'a token of thirty-two characters' }),
    requests: one({ method: 'GET', query: '?challenge_code=71745723' }),
    right: ({ url }) =>
      json(
        `{"challengeResponse":"${createHash('sha256').update(`71745723a token of thirty-two characters${url}`).digest('hex')}"}`,
      ),
    payloads: [],
  },
]

export const HANDSHAKE_CASES: readonly SenderCase[] = [...BODIES, ...HEADERS, ...QUERIES]
