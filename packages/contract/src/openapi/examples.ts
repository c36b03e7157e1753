import { EXAMPLE_PAYLOAD, EXAMPLE_TIME, exampleId } from './example-id.ts'
import { ROOMS } from './rooms.ts'

/** Members of the schemas that several rooms share. */
const SHARED: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  Accepted: { id: exampleId('submission'), dataset: 'orders' },
  DeliveryEnvelope: { id: exampleId('record') },
  Error: { reason: 'not_found' },
  EventSummary: { title: 'order.paid', payload_start: '{"type":"order.paid","total":12.5}' },
  FailedCondition: { path: 'total', op: 'gt', expected: 40, saw: 12.5 },
  OriginError: { reason: 'quota_exceeded', error: 'The events of this month are used up.' },
}

/** Example values of members of any schema. */
const ANY: Readonly<Record<string, unknown>> = {
  mail: {
    id: exampleId('mail'),
    to: 'ada@example.com',
    subject: 'Ada invites you to Acme',
    text: 'Open this link: https://hooks.example.com/invite/the-token',
    link: 'https://hooks.example.com/invite/the-token',
  },
  outbox: [
    {
      id: exampleId('mail'),
      to: 'ada@example.com',
      subject: 'Ada invites you to Acme',
      created_at: EXAMPLE_TIME,
      expires_at: '2026-11-28T09:41:12.000Z',
    },
  ],
  restored: { kind: 'rule', id: exampleId('rule'), name: 'Large orders' },
  manage_url: 'https://hooks.example.com/settings/agents',
  terms_version: '1',
  page_url: 'https://checkout.stripe.com/c/pay/cs_live_example',
  actor: exampleId('user'),
  agent: null,
  allowance: null,
  at: EXAMPLE_TIME,
  attempt_count: 1,
  body_base64: null,
  confirm: 'acme',
  content_type: 'application/json',
  body: '{"text":"An order of 42.5"}',
  challenge: 'the challenge',
  changed: ['criteria'],
  columns_complete: true,
  conditions: [{ path: 'total', op: 'gt', value: 40 }],
  by: 'Large orders',
  cors: null,
  count: 1,
  criteria: [{ path: 'action', op: 'in', value: ['opened', 'closed'] }],
  cursor: 'NzQ1OjEwMDA',
  data: EXAMPLE_PAYLOAD,
  data_text: JSON.stringify(EXAMPLE_PAYLOAD),
  dataset: 'orders',
  description: 'Orders of the shop',
  domains: ['example.com'],
  destination: 'ERP',
  email: 'ada@example.com',
  enabled: true,
  error: null,
  event_id: exampleId('record'),
  public_keys: [
    {
      id: 'Yg5S3gcRyCj4xYFMUeyFLrPL3hAI4MfPjNJqYtYd3nk',
      key: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOiro=',
      expires_at: null,
    },
  ],
  failed: null,
  from: EXAMPLE_TIME,
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  hints: [],
  identity: 'github',
  ip_allowlist: [],
  issuer: 'https://login.example.com',
  key: 'hk_1a2b3c4d5e6f7g8h9i0j',
  left_out: [],
  limit: 50,
  mappings: [],
  matched: true,
  max_in_flight: 10,
  member: 'dataset',
  method: 'POST',
  month: '2026-11',
  name: 'Shop',
  needs: ['auth.token'],
  needs_verification_secret: ['github'],
  new_password: 'correct horse battery staple',
  next: '/',
  next_cursor: null,
  not_exported: [{ kind: 'ingest_key', name: 'Checkout' }],
  number: 1,
  password: 'correct horse battery staple',
  path: 'customer.id',
  plan: 'default',
  plans: ['self_hosted', 'free'],
  problems: [],
  prev_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  public_url: 'https://hooks.example.com/acme/shop/ZyluJM2yHOls6sYAtcVf51A1IS',
  proxy: null,
  public_path: '/acme/shop/ZyluJM2yHOls6sYAtcVf51A1IS',
  rate_limit: null,
  record_ids: [exampleId('record')],
  role: 'developer',
  row: {},
  rows: [],
  rawId: 'the id of the passkey',
  rule: 'Large orders',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  since: EXAMPLE_TIME,
  signing_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  slug: 'shop',
  source_ip: '203.0.113.7',
  header_names: ['content-type', 'x-hub-signature-256'],
  signature_forms: { 'x-hub-signature-256': 'sha256=<64 hex>' },
  origin: null,
  header_title: 'pull_request',
  status: 'active',
  subject: { kind: 'submission', id: exampleId('submission'), name: null },
  tested: 1,
  text: 'The signature is right.',
  timeout_ms: 15_000,
  tls: null,
  to: EXAMPLE_TIME,
  token: 'the token of the link',
  url: 'https://erp.example.com/hooks',
  user_agent: 'Mozilla/5.0',
  verified_scheme: 'code_host',
  verification_secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  version: 2,
  waiting: ['auth'],
  webhook_slug: 'ZyluJM2yHOls6sYAtcVf51A1IS',
}

const ofSchemas = [SHARED, ...Object.values(ROOMS).map(({ members = {} }) => members)]
  .flatMap((schemas) => Object.entries<object>(schemas))
  .flatMap(([schema, members]) => Object.entries(members).map(([name, value]) => [`${schema}.${name}`, value] as const))

/** Example values of members. The entry for a schema and member comes before the entry for a member alone. */
export const MEMBER_EXAMPLES: Readonly<Record<string, unknown>> = { ...ANY, ...Object.fromEntries(ofSchemas) }

type Bodies = Readonly<Record<string, { readonly bodies?: Readonly<Record<string, object>> }>>

/** The example body of an operation, if its room has one. */
export function bodyExample({ room, verb }: { readonly room: string; readonly verb: string }): object | undefined {
  const all: Bodies = ROOMS
  return all[room]?.bodies?.[verb]
}
