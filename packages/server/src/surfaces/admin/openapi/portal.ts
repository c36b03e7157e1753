import { portalRoutes, type PortalRoute, type PortalRoutes } from '@postroad/contract'
import { PORTAL_API_BODIES, PORTAL_REASONS } from '@postroad/contract/openapi'
import type { z } from 'zod'
import { exampleOf } from './example.ts'
import { refusedAnswers } from './refused.ts'
import type { Json, Schemas } from './schemas.ts'

/** The operations of the customer portal API, with the token or the session of a customer. */

const ROUTES = Object.entries<PortalRoute>(portalRoutes)

const part = (name: 'params' | 'query' | 'body'): readonly (readonly [string, z.ZodType])[] =>
  ROUTES.flatMap(([id, route]) => {
    const schema = route[name]
    return schema === undefined ? [] : [[`portal.${id}:${name}`, schema] as const]
  })

/** The schemas that this part of the document needs, by their key in `convert`. */
export const PORTAL_SENT: Readonly<Record<string, z.ZodType>> = Object.fromEntries([
  ...part('params'),
  ...part('query'),
  ...part('body'),
])
export const PORTAL_SHOWN: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  ROUTES.map(([id, route]) => [`portal.${id}:output`, route.output]),
)

const EXPECTED: Json = {
  name: 'Service-Customer',
  in: 'header',
  required: false,
  description:
    'The id (cus_…) of the customer that the page shows. A request whose session or token belongs to another customer is refused with 409 `portal_customer_mismatch`.',
  schema: { type: 'string' },
}

type Parameters = (schema: Json, place: 'path' | 'query') => readonly Json[]

/** `parametersOf` makes the parameters of a converted schema. */
export function portalPaths(schemas: Schemas, parametersOf: Parameters): Readonly<Record<string, Json>> {
  const paths: Record<string, Json> = {}
  for (const [id, route] of ROUTES) {
    const url = `/portal/api/${route.path}`
    paths[url] = { ...paths[url], [route.method.toLowerCase()]: operation({ id, route, parametersOf }, schemas) }
  }
  return paths
}

type Asked = { readonly id: string; readonly route: PortalRoute; readonly parametersOf: Parameters }

function operation({ id, route, parametersOf }: Asked, schemas: Schemas): Json {
  const output = schemas.of(`portal.${id}:output`)
  const example = exampleOf(output, schemas.components)
  return {
    operationId: `portal.${id}`,
    tags: ['portal'],
    summary: route.summary,
    description: route.description,
    security: securityOf(route),
    parameters: [
      ...(route.params === undefined ? [] : parametersOf(schemas.of(`portal.${id}:params`), 'path')),
      ...(route.query === undefined ? [] : parametersOf(schemas.of(`portal.${id}:query`), 'query')),
      ...(route.caller === 'nobody' ? [] : [EXPECTED]),
    ],
    ...(route.body === undefined ? {} : { requestBody: requestBody(id, schemas) }),
    responses: {
      [route.status]: {
        description: 'The operation succeeded.',
        content: { 'application/json': { schema: output, example } },
      },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the name of a portal route
      ...refusedAnswers(PORTAL_REASONS[id as keyof PortalRoutes]),
    },
  }
}

function securityOf({ caller }: PortalRoute): readonly Json[] {
  if (caller === 'nobody') return []
  return caller === 'token' ? [{ portal_token: [] }] : [{ portal_token: [] }, { portal_session: [] }]
}

function requestBody(id: string, schemas: Schemas): Json {
  const schema = schemas.of(`portal.${id}:body`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the name of a portal route
  const example = PORTAL_API_BODIES[id as keyof PortalRoutes] ?? exampleOf(schema, schemas.components)
  return { required: true, content: { 'application/json': { schema, example } } }
}
