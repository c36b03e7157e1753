import { requestBytes } from './raw-http.ts'
import type { SenderCase } from './sender-cases.ts'

/** Bodies as their senders write them, and requests that are filed by more than their payload. */

const JSON_TYPE = { 'Content-Type': 'application/json' }
const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }
const OK = { status: 201 }
const one =
  (body: string | Uint8Array, headers: Readonly<Record<string, string>>) =>
  ({ path }: { readonly path: string }): readonly Buffer[] => [requestBytes({ path, headers, body })]

const BOUNDARY = 'xYzZY'
const part = (name: string, content: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ])
const sendGridInbound = Buffer.concat([
  part('charsets', '{"text":"iso-8859-1"}'),
  part('text', Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])),
  Buffer.from(`--${BOUNDARY}--\r\n`),
])

const github = (path: string, event: string): Buffer =>
  requestBytes({ path, headers: { ...JSON_TYPE, 'X-GitHub-Event': event }, body: `{"is":"${event}"}` })

export const BODY_CASES: readonly SenderCase[] = [
  {
    name: '16: PayPal IPN names windows-1252 in a field',
    webhook: {},
    requests: one('payment_status=Completed&charset=windows-1252&first_name=Ren%E9', FORM_TYPE),
    right: [OK],
    payloads: ['{"payment_status":"Completed","charset":"windows-1252","first_name":"René"}'],
  },
  {
    name: '17: SendGrid Inbound Parse names the charset of each field',
    webhook: {},
    requests: one(sendGridInbound, { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` }),
    right: [OK],
    payloads: ['{"charsets":"{\\"text\\":\\"iso-8859-1\\"}","text":"Grüße"}'],
  },
  {
    name: '19: XML as an object',
    webhook: { body_as: 'xml' },
    requests: one('<a><b>1</b></a>', { 'Content-Type': 'text/xml' }),
    right: [OK],
    payloads: ['{"a":{"b":"1"}}'],
  },
  {
    name: '19: XML as text',
    webhook: { body_as: 'text' },
    requests: one('<a><b>1</b></a>', { 'Content-Type': 'text/xml' }),
    right: [OK],
    payloads: ['"<a><b>1</b></a>"'],
  },
  {
    name: '20: each line of NDJSON is a record',
    webhook: { split: 'lines' },
    requests: one('{"a":1}\n{"a":2}\n', { 'Content-Type': 'application/x-ndjson' }),
    right: [OK],
    payloads: ['{"a":1}', '{"a":2}'],
  },
  {
    name: '21: each item of an array is a record',
    webhook: { split: { path: '' } },
    requests: one('[{"event":"open"},{"event":"click"}]', JSON_TYPE),
    right: [OK],
    payloads: ['{"event":"open"}', '{"event":"click"}'],
  },
  {
    name: '25: curl sends JSON as a form when nobody names a content type',
    webhook: {},
    requests: one('{"a":1,"b":"x&y=z"}', FORM_TYPE),
    right: [OK],
    payloads: ['{"a":1,"b":"x&y=z"}'],
  },
  {
    name: '22: a push is filed by the event in its header, and a ping is not',
    webhook: { criteria: [{ path: '$request.headers.x-github-event', equals: 'push' }] },
    requests: ({ path }) => [github(path, 'ping'), github(path, 'push')],
    right: [OK, OK],
    payloads: ['{"is":"push"}'],
  },
]
