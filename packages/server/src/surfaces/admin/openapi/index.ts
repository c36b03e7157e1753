import { SERVICE_VERSION, signInRoutes, type Route, type SignInRoute } from '@postroad/contract'
import { bodyExample, exampleId, NAMED_SCHEMAS, reasonsOf, type OperationId } from '@postroad/contract/openapi'
import type { z } from 'zod'
import { mountedRoutes } from '../mount.ts'
import { COOKIE } from '../session-cookie.ts'
import { agentPaths, AGENTS_SENT, AGENTS_SHOWN } from './agents.ts'
import { DATA_SENT, DATA_SHOWN, dataPaths } from './data-api.ts'
import { exampleOf } from './example.ts'
import { INGEST_PATHS, OUTBOUND, SSO_PATHS, STREAM_PATHS } from './outside.ts'
import { PORTAL_SENT, PORTAL_SHOWN, portalPaths } from './portal.ts'
import { refusedAnswers, SHARED_ANSWERS } from './refused.ts'
import { convert, isJson, type Json, type Schemas } from './schemas.ts'
import { TAGS } from './tags.ts'

/** An operation of the admin API before its schemas are converted. */
type Planned = {
  readonly url: string
  readonly method: Route['method']
  /** Unique in the document. `id` is the same without the suffix of an alias. */
  readonly operationId: string
  readonly id: OperationId
  readonly tag: string
  readonly of: Pick<
    Route,
    'summary' | 'description' | 'params' | 'query' | 'output' | 'download' | 'refusesIdempotencyKey'
  > & {
    readonly status: number
    readonly body?: z.ZodType | undefined
  }
  readonly security?: readonly Json[]
}

/** OpenAPI 3.1 of the admin API, of ingest, of the streams and of deliveries, generated from the contract. */
export function openApi(baseUrl: string, version: string): Json {
  const planned = [
    ...mountedRoutes()
      .filter(({ previous }) => !previous)
      .map(planOf),
    ...planOfSignIn(),
  ]
  const sent: Record<string, z.ZodType> = { ...DATA_SENT, ...AGENTS_SENT, ...PORTAL_SENT }
  const shown: Record<string, z.ZodType> = {
    'refused:output': NAMED_SCHEMAS.Error,
    'ingest:output': NAMED_SCHEMAS.Accepted,
    'receive:output': NAMED_SCHEMAS.DeliveryEnvelope,
    ...DATA_SHOWN,
    ...AGENTS_SHOWN,
    ...PORTAL_SHOWN,
  }
  for (const { id, of } of planned) {
    for (const part of ['params', 'query', 'body'] as const) {
      const schema = of[part]
      if (schema !== undefined) sent[`${id}:${part}`] = schema
    }
    const { download } = of
    if (download === undefined) shown[`${id}:output`] = of.output
    else if (download.named !== undefined) shown[`${id}:output`] = named(download.named)
  }
  const schemas = convert(sent, shown)
  const bodies: Record<string, Json> = {}
  const pageQuery = parameters(schemas.of('data.listRecords:query'), { place: 'query', schemas })
  const paths: Record<string, Json> = {
    ...INGEST_PATHS,
    ...STREAM_PATHS,
    ...dataPaths(schemas, pageQuery),
    ...agentPaths(schemas),
    ...portalPaths(schemas, (schema, place) => parameters(schema, { place, schemas })),
    ...SSO_PATHS,
  }
  for (const one of planned) {
    if (one.of.body !== undefined) bodies[bodyName(one.id)] = schemas.of(`${one.id}:body`)
    paths[one.url] = { ...paths[one.url], [one.method.toLowerCase()]: operation(one, schemas) }
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
    security: [{ api_key: [] }, { oauth: [] }, { session: [] }],
    tags: TAGS,
    paths,
    webhooks: OUTBOUND,
    components: {
      securitySchemes: {
        api_key: { type: 'http', scheme: 'bearer', bearerFormat: 'hk_…' },
        oauth: oauthScheme(baseUrl),
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: COOKIE,
          description:
            'The session of a person in the console. Every request except GET also needs the header X-Requested-With.',
        },
        ingest_key: { type: 'http', scheme: 'bearer', bearerFormat: 'ik_live_…' },
        data_key: { type: 'http', scheme: 'bearer', bearerFormat: 'hdk_…' },
        portal_token: { type: 'http', scheme: 'bearer', bearerFormat: 'hpt_…' },
        portal_session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-service_portal',
          description:
            'The session of a customer in a portal. Every request except GET also needs the header X-Requested-With with the value fetch.',
        },
      },
      schemas: { ...schemas.components, ...bodies },
      responses: SHARED_ANSWERS,
    },
  }
}

function oauthScheme(baseUrl: string): Json {
  return {
    type: 'oauth2',
    description:
      'An access token of a connected agent. It acts as the person who connected it, within the scope that the person granted.',
    flows: {
      authorizationCode: {
        authorizationUrl: `${baseUrl}/api/oauth/authorize`,
        tokenUrl: `${baseUrl}/api/oauth/token`,
        refreshUrl: `${baseUrl}/api/oauth/token`,
        scopes: {
          'service:read': 'Read.',
          'service:write': 'Also create, change and delete in projects.',
          'service:manage': 'Also what admins do.',
        },
      },
    },
  }
}

function planOf({ route, room, verb, url }: ReturnType<typeof mountedRoutes>[number]): Planned {
  const alias = route.area === 'project' && !url.includes('{project_id}')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a room and its verb are an operation by the type of routes
  const id = `${room}.${verb}` as OperationId
  const people = route.callers === 'people'
  const least =
    route.operator === true
      ? 'For operators of the installation.'
      : `Lowest role: ${route.role}; scope: ${route.scope}.`
  const description = `${route.description} ${least}${people ? ' Not for API keys and agents.' : ''}${alias ? ' This is the operation for the Default project.' : ''}`
  return {
    url,
    method: route.method,
    operationId: `${id}${alias ? '.default' : ''}`,
    id,
    tag: room,
    of: { ...route, description },
    ...(people ? { security: [{ session: [] }] } : {}),
  }
}

function planOfSignIn(): readonly Planned[] {
  return Object.entries<SignInRoute>(signInRoutes).map(([name, route]) => ({
    url: `/admin/api/${route.path}`,
    method: route.method,
    operationId: `signIn.${name}`,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the name of a sign-in route
    id: `signIn.${name}` as OperationId,
    tag: 'signIn',
    of: { ...route, status: 200, query: undefined, refusesIdempotencyKey: true },
    security: route.caller === 'session' ? [{ session: [] }] : [],
  }))
}

function operation(one: Planned, schemas: Schemas): Json {
  const { url, method, operationId, id, tag, of, security } = one
  const reasons = reasonsOf(id, { ...of, method }).filter(
    (reason) => reason !== 'not_found' || url.includes('{') || of.body !== undefined || of.query !== undefined,
  )
  const keyed = method === 'POST' && of.refusesIdempotencyKey !== true
  return {
    operationId,
    tags: [tag],
    summary: of.summary,
    description: of.description,
    ...(security === undefined ? {} : { security }),
    parameters: [
      ...(url.includes('{project_id}') ? [PROJECT_ID] : []),
      ...(of.params === undefined ? [] : parameters(schemas.of(`${id}:params`), { place: 'path', schemas })),
      ...(of.query === undefined ? [] : parameters(schemas.of(`${id}:query`), { place: 'query', schemas })),
      ...(keyed ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(of.body === undefined ? {} : { requestBody: requestBody(one, schemas) }),
    responses: {
      [of.status]: { description: 'The operation succeeded.', content: content(one, schemas) },
      ...refusedAnswers(reasons),
    },
  }
}

function requestBody({ id }: Planned, schemas: Schemas): Json {
  const [room = '', verb = ''] = id.split('.')
  const schema = { $ref: `#/components/schemas/${bodyName(id)}` }
  const example = bodyExample({ room, verb }) ?? exampleOf(schemas.of(`${id}:body`), schemas.components)
  return { required: true, content: { 'application/json': { schema, example } } }
}

function content({ id, of }: Planned, schemas: Schemas): Json {
  if (of.download !== undefined && of.download.named === undefined) {
    const text = of.download.stored !== true && of.download.bytes !== true
    return {
      [of.download.type]: text
        ? { schema: { type: 'string' }, example: 'id,at,actor\n' }
        : { schema: { type: 'string', format: 'binary' } },
    }
  }
  const schema = schemas.of(`${id}:output`)
  return { 'application/json': { schema, example: exampleOf(schema, schemas.components) } }
}

function named(name: string): z.ZodType {
  const schema = Object.entries<z.ZodType>(NAMED_SCHEMAS).find(([one]) => one === name)?.[1]
  if (schema === undefined) throw new Error(`No schema has the name ${name}.`)
  return schema
}

function parameters(
  { properties, required }: Json,
  { place, schemas }: { readonly place: 'path' | 'query'; readonly schemas: Schemas },
): readonly Json[] {
  return Object.entries(isJson(properties) ? properties : {}).map(([name, of]) => {
    const { description, ...schema } = isJson(of) ? of : {}
    return {
      name,
      in: place,
      required: place === 'path' || (Array.isArray(required) && required.includes(name)),
      ...(description === undefined ? {} : { description }),
      ...(place === 'path' ? { example: pathExample(name, schema, schemas) } : {}),
      schema,
    }
  })
}

// oxlint-disable-next-line max-params -- a parameter, its schema, and the named schemas
function pathExample(name: string, schema: Json, { components }: Schemas): unknown {
  if (name === 'version') return schema['type'] === 'string' ? '2' : 2
  return typeof schema['pattern'] === 'string'
    ? exampleOf(schema, components, { member: name })
    : exampleId('submission')
}

/** `webhooks.create` → WebhookCreateRequest; `signIn.changePassword` → ChangePasswordRequest. */
function bodyName(id: OperationId): string {
  const [room = '', verb = ''] = id.split('.')
  const noun = room === 'signIn' ? '' : room.replace(/ies$/, 'y').replace(/s$/, '')
  return `${capitalized(noun)}${capitalized(verb)}Request`
}

function capitalized(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}

const PROJECT_ID: Json = {
  name: 'project_id',
  in: 'path',
  required: true,
  description: 'The id of the project.',
  example: exampleId('project'),
  schema: { type: 'string' },
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'For 24 hours, a repeat with the same key, path, body and credential gets the first response again, with Idempotent-Replayed: true. Another request with the same key is refused with 422, ' +
    'and with 409 while the first one is running. Responses over 64 KiB and 5xx responses are not stored. A workspace can use 10,000 keys in 24 hours. For requests about the workspaces of a person, the limit applies to the person.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}
