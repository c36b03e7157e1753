import { ErrorBody, SERVICE_VERSION, signInRoutes, type Route, type SignInRoute } from '@postroad/contract'
import { z } from 'zod'
import { mountedRoutes } from './mount.ts'
import { COOKIE } from './session-cookie.ts'

type Json = Record<string, unknown>

/** OpenAPI 3.1 of the admin API and of ingest, read from the contract. */
export function openApi(baseUrl: string, version: string): Json {
  const paths: Record<string, Json> = { ...INGEST_PATHS, ...STREAM_PATHS }
  for (const { route, room, verb, url } of mountedRoutes()) {
    const alias = route.area === 'project' && !url.includes('{project_id}')
    paths[url] = {
      ...paths[url],
      [route.method.toLowerCase()]: operation(route, { id: `${room}.${verb}${alias ? '.default' : ''}`, room, url }),
    }
  }
  for (const [name, route] of Object.entries<SignInRoute>(signInRoutes)) {
    const url = `/admin/api/${route.path}`
    paths[url] = { ...paths[url], [route.method.toLowerCase()]: signInOperation(route, name) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Postroad',
      version,
      description: `Capture, route and deliver webhooks. Service-Version ${SERVICE_VERSION}.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [{ api_key: [] }, { session: [] }],
    components: {
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'hk_…' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: COOKIE,
          description: 'A person in the console. What is no GET also needs the header X-Requested-With.',
        },
        ingest_key: { type: 'http', scheme: 'bearer', bearerFormat: 'ik_live_…' },
      },
      schemas: { Error: schemaOf(ErrorBody, 'output') },
    },
    paths,
  }
}

function signInOperation(route: SignInRoute, name: string): Json {
  return {
    operationId: `signIn.${name}`,
    tags: ['signIn'],
    summary: route.summary,
    description: route.description,
    security: route.caller === 'session' ? [{ session: [] }] : [],
    parameters: parameters(route.params, 'path'),
    ...answers({ ...route, status: 200 }),
  }
}

function operation(route: Route, of: { id: string; room: string; url: string }): Json {
  return {
    operationId: of.id,
    tags: [of.room],
    summary: route.summary,
    description: `${route.description} Least role: ${route.role}; scope: ${route.scope}.${route.callers === 'people' ? ' Not for API keys and agents.' : ''}`,
    ...(route.callers === 'people' ? { security: [{ session: [] }] } : {}),
    parameters: [
      ...(of.url.includes('{project_id}')
        ? [{ name: 'project_id', in: 'path', required: true, schema: { type: 'string' } }]
        : []),
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...(route.method === 'POST' && route.refusesIdempotencyKey !== true ? [IDEMPOTENCY_KEY] : []),
    ],
    ...answers(route),
  }
}

/** What is sent, and what comes back. */
function answers(
  route: { readonly status: number; readonly body?: z.ZodType | undefined } & Pick<Route, 'download' | 'output'>,
): Json {
  return {
    ...(route.body === undefined
      ? {}
      : {
          requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body, 'input') } } },
        }),
    responses: {
      [route.status]: { description: 'Done.', content: contentOf(route) },
      default: {
        description: 'Refused.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  }
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'For 24 hours a repeat with the same key, path, body and credential gets the first answer again, with Idempotent-Replayed: true; another request with it is 422, ' +
    'and 409 while the first one runs. Answers over 64 KiB and server failures are not stored. 10,000 keys in 24 hours for a workspace; for a person where the request is about their workspaces.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

function contentOf({ download, output }: Pick<Route, 'download' | 'output'>): Json {
  if (download !== undefined) return { [download.type]: { schema: { type: 'string' } } }
  return { 'application/json': { schema: schemaOf(output, 'output') } }
}

function parameters(fields: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (fields === undefined) return []
  return Object.entries(fields.shape).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a shape holds schemas; zod types its core ones only
    schema: schemaOf(schema as z.ZodType, 'input'),
  }))
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' })
  return json
}

const accepted: Json = { description: 'Stored and routed; it will be delivered.' }
const ingest = (summary: string, names: readonly string[]): Json => ({
  post: {
    tags: ['ingest'],
    summary,
    security: [],
    parameters: names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: {} },
        'application/x-www-form-urlencoded': { schema: {} },
        'multipart/form-data': { schema: {} },
      },
    },
    responses: {
      201: accepted,
      default: {
        description: 'Refused.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  },
})

const INGEST_PATHS: Record<string, Json> = {
  '/{workspace}/{project}/{webhook}': ingest('Send an event to an endpoint', ['workspace', 'project', 'webhook']),
  '/{workspace}/{project}/{webhook}/{dataset}': ingest('Send an event to an endpoint, into another dataset', [
    'workspace',
    'project',
    'webhook',
    'dataset',
  ]),
  '/v1/ingest': ingest(
    'Send an event through the rules of the project, with the ingest key as "Authorization: Bearer"',
    [],
  ),
  '/v1/ingest/{ingest_key}': ingest('Send an event through the rules of the project', ['ingest_key']),
  '/v1/ingest/{ingest_key}/{dataset}': ingest('Store an event whole in a dataset', ['ingest_key', 'dataset']),
  '/v1/webhooks/{ingest_key}/{slug}': ingest("Send an event through an endpoint's criteria and mappings", [
    'ingest_key',
    'slug',
  ]),
}

const stream = (summary: string, of: { security?: readonly Json[]; names?: readonly string[]; key?: true }): Json => ({
  get: {
    tags: ['stream'],
    summary,
    description:
      'Server-sent events, or a WebSocket for who asks for one, with the same as {"type","id","data"}. Events: record, gap, closing; on the admin stream also delivery and rejection. The id of an event is the cursor behind it.',
    ...(of.security === undefined ? {} : { security: of.security }),
    parameters: [
      ...(of.names ?? []).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...(of.key === undefined
        ? []
        : [
            {
              name: 'key',
              in: 'query',
              description: 'An ingest key, for who cannot send it as "Authorization: Bearer".',
              schema: { type: 'string' },
            },
          ]),
      {
        name: 'after',
        in: 'query',
        description: 'The id of the last event that was seen; Last-Event-ID says the same and goes first.',
        schema: { type: 'string' },
      },
      {
        name: 'since',
        in: 'query',
        description: 'Begins with what was received at this time.',
        schema: { type: 'string', format: 'date-time' },
      },
      {
        name: 'dataset',
        in: 'query',
        description: 'Only these datasets, separated by commas.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: {
        description: 'Open until one side ends it.',
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      default: {
        description: 'Refused.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
  },
})

const STREAM_PATHS: Record<string, Json> = {
  '/v1/stream': stream('Watch the records of a project as they are stored', {
    security: [{ ingest_key: [] }, {}],
    key: true,
  }),
  '/admin/api/stream': stream('Watch the workspace: records, deliveries and refused requests of all its projects', {}),
  '/admin/api/projects/{project_id}/stream': stream('Watch a project: its records, deliveries and refused requests', {
    names: ['project_id'],
  }),
}
