import { DELIVERY_HEADERS, SSO_REPLACE_PATH, type Reason } from '@postroad/contract'
import { EXAMPLE_TIME, exampleId, INGEST_REASONS, STREAM_REASONS } from '@postroad/contract/openapi'
import { refusedAnswers } from './refused.ts'
import type { Json } from './schemas.ts'

/** Operations outside of the admin API: ingest, the streams, and the request that a destination receives. */

const PAYLOAD = { type: 'order.created', total: 42.5 }
const text = { type: 'string' }

const WHERE: Readonly<Record<string, string>> = {
  workspace: 'The slug of the workspace.',
  project: 'The slug of the project.',
  webhook: 'The secret last part of the endpoint URL.',
  dataset: 'The dataset to file the event in.',
  ingest_key: 'An ingest key. To send it as "Authorization: Bearer" instead, leave this segment out.',
  slug: 'The readable slug of the endpoint.',
  project_id: 'The id of the project.',
}

function inPath(names: readonly string[]): readonly Json[] {
  return names.map((name) => ({ name, in: 'path', required: true, description: WHERE[name], schema: text }))
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'For 7 days, a repeat with the same key, path and body gets the first response again, with 200 and `duplicate: true`. Another body with the same key is refused with 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

const PREFER: Json = {
  name: 'Prefer',
  in: 'header',
  description:
    '`return=representation`: the response is the one described here, also if `response` of the endpoint sets another one.',
  schema: text,
}

const accepted = (duplicate: boolean, routed: boolean): Json => ({
  id: exampleId('submission'),
  status: 'accepted',
  dataset: routed ? null : 'orders',
  received_at: EXAMPLE_TIME,
  duplicate,
  records: [{ id: exampleId('record'), dataset: 'orders' }],
  ...(routed
    ? { routed: [{ rule_id: exampleId('rule'), rule: 'Orders', dataset: 'orders', record_id: exampleId('record') }] }
    : {}),
})

type Ingest = {
  readonly id: string
  readonly summary: string
  readonly description: string
  readonly path: readonly string[]
  readonly but: readonly Reason[]
  readonly security?: readonly Json[]
}

const OF_URLS: readonly Reason[] = ['ingest_key_not_found', 'scope_missing', 'dataset_not_allowed']
const OF_KEYS: readonly Reason[] = ['cors_origin_not_allowed', 'handshake_failed', 'invalid_challenge']

function ingest({ id, summary, description, path, but, security = [] }: Ingest): Json {
  const routed = id.startsWith('ingest.route')
  const hasEndpoint = path.includes('webhook') || path.includes('slug')
  const schema = { $ref: '#/components/schemas/Accepted' }
  const content = (duplicate: boolean): Json => ({
    'application/json': { schema, example: accepted(duplicate, routed) },
  })
  return {
    operationId: id,
    tags: ['ingest'],
    summary,
    description: `${description} The body is JSON, a urlencoded form or multipart/form-data; a body of any other type is read as JSON. gzip, deflate, br and zstd are supported.`,
    security,
    parameters: [...inPath(path), IDEMPOTENCY_KEY, ...(hasEndpoint ? [PREFER] : [])],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: {}, example: PAYLOAD },
        'application/x-www-form-urlencoded': { schema: { type: 'object' } },
        'multipart/form-data': { schema: { type: 'object' } },
      },
    },
    responses: {
      200: {
        description:
          'A repeat: an event with the same idempotency key was accepted before. Or, for a provider that verifies the URL, the challenge as text.' +
          (hasEndpoint
            ? ' An endpoint with a `response` sends that one, with 200, 201, 202 or 204, to every event that it accepts.'
            : ''),
        content: { ...content(true), 'text/plain': { schema: text, example: 'the challenge' } },
      },
      201: {
        description: 'One commit stores the event, its records and its deliveries. They will be delivered.',
        content: content(false),
      },
      ...refusedAnswers(INGEST_REASONS.filter((reason) => !but.includes(reason))),
    },
  }
}

const HANDSHAKE: Json = {
  operationId: 'ingest.answerChallenge',
  tags: ['ingest'],
  summary: 'Answer a provider’s challenge',
  description:
    'The question of a handshake that comes as a GET. Providers call this when you register the URL. The handshake `hub_challenge` reads these parameters; a ' +
    'custom one reads those that it names, or headers, and can answer JSON. Any other GET, and one that accepts text/html, gets the console. A custom handshake can also read OPTIONS.',
  security: [],
  parameters: [
    ...inPath(['workspace', 'project', 'webhook']),
    ...['hub.mode', 'hub.verify_token', 'hub.challenge'].map((name) => ({
      name,
      in: 'query',
      schema: text,
    })),
  ],
  responses: {
    200: {
      description:
        'The answer of the handshake. With hub_challenge, the verify token is correct, and the body is the challenge.',
      content: {
        'text/plain': { schema: text, example: '1158201444' },
        'application/json': { schema: {}, example: { verification: 'q1' } },
      },
    },
    ...refusedAnswers([
      'endpoint_not_found',
      'endpoint_disabled',
      'ip_not_allowed',
      'workspace_suspended',
      'workspace_closed',
      'burst_limited',
      'work_limited',
      'cors_origin_not_allowed',
      'handshake_failed',
      'invalid_challenge',
    ]),
  },
}

export const INGEST_PATHS: Readonly<Record<string, Json>> = {
  '/{workspace}/{project}/{webhook}': {
    post: ingest({
      id: 'ingest.sendToEndpoint',
      summary: 'Send an event to an endpoint',
      description:
        'The criteria and mappings of the endpoint file the event in its dataset. The URL is the credential.',
      path: ['workspace', 'project', 'webhook'],
      but: OF_URLS,
    }),
    get: HANDSHAKE,
  },
  '/{workspace}/{project}/{webhook}/{dataset}': {
    post: ingest({
      id: 'ingest.sendToEndpointAndDataset',
      summary: 'Send an event to an endpoint, into another dataset',
      description: 'Like the URL without a dataset, but the event is filed in the dataset of the path.',
      path: ['workspace', 'project', 'webhook', 'dataset'],
      but: OF_URLS,
    }),
  },
  '/v1/ingest': {
    post: ingest({
      id: 'ingest.routeWithHeader',
      summary: 'Send an event through the rules, with the key in a header',
      description:
        'Every rule of the project that matches writes a record. The key is sent as "Authorization: Bearer".',
      path: [],
      but: ['endpoint_not_found', ...OF_KEYS],
      security: [{ ingest_key: [] }],
    }),
  },
  '/v1/ingest/{ingest_key}': {
    post: ingest({
      id: 'ingest.route',
      summary: 'Send an event through the rules',
      description: 'Every rule of the project that matches writes a record.',
      path: ['ingest_key'],
      but: ['endpoint_not_found', ...OF_KEYS],
    }),
  },
  '/v1/ingest/{ingest_key}/{dataset}': {
    post: ingest({
      id: 'ingest.store',
      summary: 'Store an event unchanged in a dataset',
      description: 'No rule and no mapping is evaluated.',
      path: ['ingest_key', 'dataset'],
      but: ['endpoint_not_found', ...OF_KEYS],
    }),
  },
  '/v1/webhooks/{ingest_key}/{slug}': {
    post: ingest({
      id: 'ingest.sendThroughEndpoint',
      summary: 'Send an event through the criteria and mappings of an endpoint',
      description: 'The slug names the endpoint, and the ingest key is the credential.',
      path: ['ingest_key', 'slug'],
      but: [],
    }),
  },
}

type Stream = {
  readonly id: string
  readonly summary: string
  readonly reasons: readonly Reason[]
  readonly security?: readonly Json[]
  readonly path?: readonly string[]
}

function stream({ id, summary, reasons, security, path = [] }: Stream): Json {
  const key = security === undefined ? [] : [KEY]
  return {
    get: {
      operationId: id,
      tags: ['stream'],
      summary,
      description:
        'Server-sent events, or a WebSocket when the request asks for an upgrade, with the same events as {"type","id","data"}. ' +
        'Events: `record` (a DeliveryEnvelope), `gap` and `closing`; the streams of the admin API also have `delivery` (a Delivery) and `rejection` (a Rejection). ' +
        'The id of an event is the cursor after it.',
      ...(security === undefined ? {} : { security }),
      parameters: [...inPath(path), ...key, ...CURSORS, ...(security === undefined ? [DETAIL] : [])],
      responses: {
        101: { description: 'A WebSocket, when the request asks for an upgrade.' },
        200: {
          description: 'The stream is open until one side closes it.',
          content: {
            'text/event-stream': {
              schema: text,
              example: `event: record\nid: …\ndata: {"id":"${exampleId('record')}","dataset":"orders","received_at":"${EXAMPLE_TIME}","data":{"total":42.5}}\n\n`,
            },
          },
        },
        ...refusedAnswers(reasons),
      },
    },
  }
}

const KEY: Json = {
  name: 'key',
  in: 'query',
  description: 'An ingest key, for clients that cannot send it as "Authorization: Bearer".',
  schema: text,
}

const CURSORS: readonly Json[] = [
  {
    name: 'after',
    in: 'query',
    description: 'The id of the last event that the client has seen. The header Last-Event-ID has precedence.',
    schema: text,
  },
  {
    name: 'since',
    in: 'query',
    description: 'Start with the events that were received at this time.',
    schema: { type: 'string', format: 'date-time' },
  },
  { name: 'dataset', in: 'query', description: 'Only these datasets, separated by commas.', schema: text },
]

const DETAIL: Json = {
  name: 'detail',
  in: 'query',
  description:
    '`request`: each record also has `submission_id` and `request`, its request as received with credentials masked, and the stream has no deliveries or refusals.',
  schema: { type: 'string', enum: ['sender', 'request'], default: 'sender' },
}

export const STREAM_PATHS: Readonly<Record<string, Json>> = {
  '/v1/stream': stream({
    id: 'stream.watchRecords',
    summary: 'Watch the records of a project as they are stored',
    reasons: STREAM_REASONS.ingestKey,
    security: [{ ingest_key: [] }, {}],
  }),
  '/admin/api/stream': stream({
    id: 'stream.watchWorkspace',
    summary: 'Watch the workspace: records, deliveries and rejected requests of all its projects',
    reasons: STREAM_REASONS.admin,
  }),
  '/admin/api/projects/{project_id}/stream': stream({
    id: 'stream.watchProject',
    summary: 'Watch a project: its records, deliveries and rejected requests',
    reasons: STREAM_REASONS.admin,
    path: ['project_id'],
  }),
}

const header = (name: string, description: string): Json => ({ name, in: 'header', description, schema: text })

/** The request of a delivery to a URL, unless the destination has a payload template. */
export const OUTBOUND: Readonly<Record<string, Json>> = {
  delivery: {
    post: {
      operationId: 'receive.delivery',
      tags: ['receive'],
      summary: 'Receive a delivery',
      description:
        'Postroad sends this to the URL of a destination. Verify the signature over the raw body, deduplicate by `id`, and answer with a 2xx status within the timeout of the destination. ' +
        'Postroad delivers at least once, and deliveries can arrive out of order.',
      security: [],
      parameters: [
        header(
          'Service-Signature',
          '`t=<unix seconds>,v1=<hex>`: HMAC-SHA256 over `<t>.<body>` with the signing secret.',
        ),
        header('webhook-id', 'The event id, in the Standard Webhooks format.'),
        header('webhook-timestamp', 'Unix seconds, in the Standard Webhooks format.'),
        header('webhook-signature', 'The signature, in the Standard Webhooks format.'),
        header(DELIVERY_HEADERS.eventId, 'The id of the record; it is the same on every retry and replay.'),
        header(DELIVERY_HEADERS.deliveryId, 'The id of the attempt; it is different on every retry.'),
        header(DELIVERY_HEADERS.attempt, 'The number of the attempt, starting at 1.'),
        header(DELIVERY_HEADERS.dataset, 'The dataset of the record.'),
        header('traceparent', 'The W3C trace context of the event, with this attempt as the parent.'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/DeliveryEnvelope' },
            example: { id: exampleId('record'), dataset: 'orders', received_at: EXAMPLE_TIME, data: PAYLOAD },
          },
        },
      },
      responses: {
        '2XX': { description: 'The delivery is complete.' },
        410: { description: 'The destination is turned off, and its deliveries are paused.' },
        '4XX': { description: 'The delivery is retried on the schedule of the destination. Retry-After is honored.' },
        default: { description: 'Any other response is retried in the same way. Redirects are not followed.' },
      },
    },
  },
}

/** Answers 501 to everybody. Only malformed or ambiguous HTTP gets 400, before any route. */
export const SSO_PATHS: Readonly<Record<string, Json>> = {
  [`/admin/api/${SSO_REPLACE_PATH}`]: {
    put: {
      operationId: 'sso.replace',
      tags: ['sso'],
      summary: 'Replace an SSO configuration',
      description:
        'Not available on this version: the answer is always 501, before version, credential, plan, role or body are examined. Nothing changes.',
      security: [],
      parameters: [{ name: 'id', in: 'path', required: true, description: 'Any text.', schema: text }],
      responses: refusedAnswers(['invalid_request', 'sso_not_available']),
    },
  },
}
