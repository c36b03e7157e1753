import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { requestBytes } from './raw-http.ts'

/**
 * Requests of real senders, as people reported that they were lost or misread elsewhere. Each has its bytes and the right
 * answer.
 */
export type SenderCase = {
  readonly name: string
  /** Settings of the endpoint; a name is that of a preset, whose settings come first. */
  readonly webhook: { readonly preset?: string; readonly [member: string]: unknown }
  /** One request after the other. */
  readonly requests: (at: CaseAt) => readonly Buffer[]
  /** One for each request. */
  readonly right: readonly RightAnswer[] | ((at: CaseAt) => readonly RightAnswer[])
  /** The payloads of all records in the end, in the order of their arrival; absent: not compared. */
  readonly payloads?: readonly string[]
  /** Members of the submission of the first request. */
  readonly submission?: object
}

/** `url` is the public one, `path` its path, `seconds` the time. */
type CaseAt = { readonly url: string; readonly path: string; readonly seconds: number }

type RightAnswer = {
  readonly status: number
  readonly type?: string
  /** In lower case; others may be there too. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const SECRET = 'a secret of the sender'
type Form = readonly [algorithm: string, encoding: 'hex' | 'base64']
const mac = (key: string | Buffer, text: string | Buffer, [algorithm, encoding]: Form): string =>
  createHmac(algorithm, key).update(text).digest(encoding)

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }
const OK: RightAnswer = { status: 201 }

const wooCommerce = (path: string, body: string): Buffer =>
  requestBytes({
    path,
    headers: {
      ...JSON_TYPE,
      'X-WC-Webhook-Delivery-ID': 'one-hash-of-the-webhook-and-the-second',
      'X-WC-Webhook-Topic': 'order.updated',
      'X-WC-Webhook-Signature': mac(SECRET, body, ['sha256', 'base64']),
    },
    body,
  })

const twilio = (path: string, signed: string, body: string): Buffer =>
  requestBytes({ path, headers: { ...FORM_TYPE, 'X-Twilio-Signature': mac(SECRET, signed, ['sha1', 'base64']) }, body })

const standardKey = Buffer.from('a key of thirty-two bytes for it')
const standardWebhook = (at: { path: string; seconds: number }, body: string): Buffer =>
  requestBytes({
    path: at.path,
    headers: {
      ...JSON_TYPE,
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(at.seconds),
      'webhook-signature': `v1,${mac(standardKey, `msg_1.${at.seconds}.${body}`, ['sha256', 'base64'])}`,
    },
    body,
  })

const custom = (settings: object, secret = SECRET): SenderCase['webhook'] => ({
  verification: { scheme: 'custom_hmac', secret, ...settings },
})

const mailgunToken = '0123456789abcdef0123456789abcdef0123456789abcdef01'
const mailgun = (
  path: string,
  { seconds, key = SECRET, body }: { seconds: number; key?: string; body: 'json' | 'form' },
): Buffer => {
  const parts = {
    timestamp: String(seconds),
    token: mailgunToken,
    signature: mac(key, `${seconds}${mailgunToken}`, ['sha256', 'hex']),
  }
  return body === 'json'
    ? requestBytes({
        path,
        headers: JSON_TYPE,
        body: JSON.stringify({ signature: parts, 'event-data': { id: 'e1', event: 'delivered' } }),
      })
    : requestBytes({ path, headers: FORM_TYPE, body: new URLSearchParams({ subject: 'Hello', ...parts }).toString() })
}

export const SENDER_CASES: readonly SenderCase[] = [
  {
    name: '30: Mailgun signs inside the JSON body; another key, an old time and no signature are refused',
    webhook: { preset: 'mailgun', secret: SECRET },
    requests: ({ path, seconds }) => [
      mailgun(path, { seconds, body: 'json' }),
      mailgun(path, { seconds, body: 'json', key: 'another key' }),
      mailgun(path, { seconds: seconds - 90_000, body: 'json' }),
      requestBytes({ path, headers: JSON_TYPE, body: '{"event-data":{"event":"delivered"}}' }),
    ],
    right: [OK, { status: 401 }, { status: 401 }, { status: 401 }],
    submission: { verification: 'verified' },
  },
  {
    name: '30: Mailgun routes sign inside a form',
    webhook: { preset: 'mailgun-routes', secret: SECRET },
    requests: ({ path, seconds }) => [
      mailgun(path, { seconds, body: 'form' }),
      mailgun(path, { seconds, body: 'form', key: 'another key' }),
    ],
    right: [OK, { status: 401 }],
    submission: { verification: 'verified' },
  },
  {
    name: '31: the data of a Pub/Sub message is base64 of JSON, and base64 decodes it with its digits',
    webhook: { mappings: [{ target: 'order', path: 'message.data', transform: 'base64' }] },
    requests: ({ path }) =>
      ['{"id":12345678901234567890,"total":1.50}', 'plain text, ü'].map((data) =>
        requestBytes({
          path,
          headers: JSON_TYPE,
          body: JSON.stringify({ message: { data: Buffer.from(data).toString('base64') } }),
        }),
      ),
    right: [OK, OK],
    payloads: ['{"order":{"id":12345678901234567890,"total":1.50}}', '{"order":"plain text, ü"}'],
    submission: { verification: 'unattempted' },
  },
  {
    name: '35a: Twilio signs a query as its URL has it, and as a library of Node writes it again',
    webhook: { preset: 'twilio', secret: SECRET },
    requests: ({ path, url }) => [
      twilio(`${path}?b=it%27s&a=1`, `${url}?b=it's&a=1Bodyhi`, 'Body=hi'),
      twilio(`${path}?b=a%20b&a=1`, `${url}?b=a%20b&a=1Bodyhi`, 'Body=hi'),
      twilio(`${path}?b=1&a=2`, `${url}?a=2&b=1Bodyhi`, 'Body=hi'),
    ],
    right: [{ status: 200 }, { status: 200 }, { status: 401 }],
  },
  {
    name: '1: WooCommerce repeats the id of a second; another body is another event, an equal one a duplicate',
    webhook: { preset: 'woocommerce', secret: SECRET },
    requests: ({ path }) => ['{"id":1001}', '{"id":1002}', '{"id":1002}'].map((body) => wooCommerce(path, body)),
    right: [OK, OK, { status: 200 }],
    payloads: ['{"id":1001}', '{"id":1002}'],
  },
  {
    name: '3: Twilio signs event callbacks over the URL with the default port, and other callbacks without it',
    webhook: { preset: 'twilio', secret: SECRET },
    requests: ({ path, url }) => [
      twilio(path, `${url.replace('.com', '.com:443')}Bodyhi`, 'Body=hi'),
      twilio(path, `${url}Bodyhi`, 'Body=hi'),
    ],
    right: [{ status: 200 }, { status: 200 }],
  },
  {
    name: '4: Supabase Auth accepts 200 with an object, not 201',
    webhook: { preset: 'supabase-auth', secret: `whsec_${standardKey.toString('base64')}` },
    requests: (at) => [standardWebhook(at, '{"user":{"id":"1"}}')],
    right: [{ status: 200, type: 'application/json', body: '{}' }],
  },
  {
    name: '6: Twilio gets an empty TwiML document for an incoming message',
    webhook: { preset: 'twilio', secret: SECRET },
    requests: ({ path, url }) => [twilio(path, `${url}Bodyhi`, 'Body=hi')],
    right: [{ status: 200, type: 'text/xml', body: '<Response/>' }],
  },
  {
    name: '18: a Content-Encoding that names a charset means uncompressed',
    webhook: {},
    requests: ({ path }) =>
      ['UTF-8', 'utf-8', 'identity'].map((coding) =>
        requestBytes({ path, headers: { ...JSON_TYPE, 'Content-Encoding': coding }, body: '{"a":1}' }),
      ),
    right: [OK, OK, OK],
    payloads: ['{"a":1}', '{"a":1}', '{"a":1}'],
  },
  {
    name: '23a: the query string is stored with the event',
    webhook: {},
    requests: ({ path }) => [requestBytes({ path: `${path}?tenant=acme&ref=Z9Q7`, headers: JSON_TYPE, body: '{}' })],
    right: [OK],
    submission: { method: 'POST', query: 'tenant=acme&ref=Z9Q7' },
  },
  {
    name: '26: HEAD on the URL of an enabled endpoint, as Intercom and Discourse ask',
    webhook: {},
    requests: ({ path }) => [requestBytes({ method: 'HEAD', path })],
    right: [{ status: 200, body: '' }],
    payloads: [],
  },
  {
    name: 'Twilio signs a repeated field with each value once, and emoji as they are',
    webhook: { preset: 'twilio', secret: SECRET },
    requests: ({ path, url }) => [
      twilio(path, `${url}Body👋 ZoëMediaaMediab`, 'Media=b&Media=a&Media=b&Body=%F0%9F%91%8B+Zo%C3%AB'),
    ],
    right: [{ status: 200 }],
  },
  {
    name: 'Trello signs the body and the URL of the callback',
    webhook: custom({ header: 'X-Trello-Webhook', algorithm: 'sha1', encoding: 'base64', signed: '{body}{url}' }),
    requests: ({ path, url }) => [
      requestBytes({
        path,
        headers: { ...JSON_TYPE, 'X-Trello-Webhook': mac(SECRET, `{"action":"ü"}${url}`, ['sha1', 'base64']) },
        body: '{"action":"ü"}',
      }),
    ],
    right: [OK],
  },
  {
    name: 'HubSpot v3 signs the method, the URL, the body and the time in milliseconds',
    webhook: custom({
      header: 'X-HubSpot-Signature-v3',
      encoding: 'base64',
      signed: '{method}{url}{body}{timestamp}',
      timestamp_header: 'X-HubSpot-Request-Timestamp',
      timestamp_format: 'milliseconds',
      tolerance_seconds: 300,
    }),
    requests: ({ path, url, seconds }) => [
      requestBytes({
        path,
        headers: {
          ...JSON_TYPE,
          'X-HubSpot-Request-Timestamp': `${seconds}007`,
          'X-HubSpot-Signature-v3': mac(SECRET, `POST${url}[{"eventId":1}]${seconds}007`, ['sha256', 'base64']),
        },
        body: '[{"eventId":1}]',
      }),
    ],
    right: [OK],
  },
  {
    name: 'an outgoing webhook of Microsoft Teams signs with a key in base64',
    webhook: custom(
      { header: 'Authorization', encoding: 'base64', prefix: 'HMAC ', key_encoding: 'base64' },
      standardKey.toString('base64'),
    ),
    requests: ({ path }) => [
      requestBytes({
        path,
        headers: {
          ...JSON_TYPE,
          Authorization: `HMAC ${mac(standardKey, '{"text":"hi"}', ['sha256', 'base64'])}`,
        },
        body: '{"text":"hi"}',
      }),
    ],
    right: [OK],
  },
  {
    name: 'Authorize.Net signs with SHA-512 in upper case, with a key in hex',
    webhook: custom(
      { header: 'X-ANET-Signature', algorithm: 'sha512', prefix: 'sha512=', key_encoding: 'hex' },
      standardKey.toString('hex'),
    ),
    requests: ({ path }) => [
      requestBytes({
        path,
        headers: {
          ...JSON_TYPE,
          'X-ANET-Signature': `sha512=${mac(standardKey, '{"a":1}', ['sha512', 'hex']).toUpperCase()}`,
        },
        body: '{"a":1}',
      }),
    ],
    right: [OK],
  },
  {
    name: 'ids of 64 bits, 1.0 and repeated members stay as they are',
    webhook: {},
    requests: ({ path }) => [
      requestBytes({ path, headers: JSON_TYPE, body: '{"id":9223372036854775807,"n":1.0,"a":1,"a":2}' }),
    ],
    right: [OK],
    payloads: ['{"id":9223372036854775807,"n":1.0,"a":1,"a":2}'],
  },
  {
    name: 'a gzip body is verified as it was sent and stored inflated',
    webhook: { verification: { scheme: 'hmac', header: 'X-Signature', secret: SECRET } },
    requests: ({ path }) => {
      const body = gzipSync('{"a":1}')
      const headers = { ...JSON_TYPE, 'Content-Encoding': 'gzip', 'X-Signature': mac(SECRET, body, ['sha256', 'hex']) }
      return [requestBytes({ path, headers, body })]
    },
    right: [OK],
    payloads: ['{"a":1}'],
  },
  {
    name: 'GitHub sends its payload as a form when a webhook is set to it',
    webhook: { preset: 'github', secret: SECRET },
    requests: ({ path }) => {
      const body = `payload=${encodeURIComponent('{"zen":"Keep it simple & ü."}')}`
      const headers = {
        ...FORM_TYPE,
        'X-GitHub-Event': 'ping',
        'X-GitHub-Delivery': '1',
        'X-Hub-Signature-256': `sha256=${mac(SECRET, body, ['sha256', 'hex'])}`,
      }
      return [requestBytes({ path, headers, body })]
    },
    right: [OK],
    payloads: ['{"payload":"{\\"zen\\":\\"Keep it simple & ü.\\"}"}'],
  },
]

/** Answers of real receivers, byte for byte, and the right outcome of the attempt. */
export type ReceiverCase = {
  readonly name: string
  readonly answer: Buffer
  readonly state: 'delivered' | 'retrying' | 'paused'
  /** Members of the attempt. */
  readonly attempt: object
}

const gzipped = gzipSync('{"error":"größer"}')

export const RECEIVER_CASES: readonly ReceiverCase[] = [
  {
    name: '8: 100 Continue before the answer, unasked',
    answer: Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    state: 'delivered',
    attempt: { response_status: 200 },
  },
  {
    name: '9a: a receiver that is not HTTP',
    answer: Buffer.from('SSH-2.0-OpenSSH_9.6\r\n'),
    state: 'retrying',
    attempt: { error_detail: 'The host did not respond with HTTP.' },
  },
  {
    name: '10: a 200 with a header of 20 KiB counts',
    answer: Buffer.from(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(20_480)}\r\nContent-Length: 0\r\n\r\n`),
    state: 'delivered',
    attempt: { response_status: 200 },
  },
  {
    name: '42: a gzip answer is shown decoded',
    answer: Buffer.concat([
      Buffer.from(
        `HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${gzipped.length}\r\n\r\n`,
      ),
      gzipped,
    ]),
    state: 'retrying',
    attempt: { response_status: 500, response_body: '{"error":"größer"}' },
  },
  {
    name: '42: an answer in Latin-1 is shown decoded',
    answer: Buffer.from(
      'HTTP/1.1 500 Oops\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Length: 5\r\n\r\nGr\u00fcn!',
      'latin1',
    ),
    state: 'retrying',
    attempt: { response_status: 500, response_body: 'Grün!' },
  },
  {
    name: 'a permanent redirect is shown and not followed',
    answer: Buffer.from('HTTP/1.1 308 Moved\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n'),
    state: 'retrying',
    attempt: { response_status: 308, error_code: 'redirect' },
  },
  {
    name: '410 Gone pauses the destination and its deliveries',
    answer: Buffer.from('HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n'),
    state: 'paused',
    attempt: { response_status: 410 },
  },
]
