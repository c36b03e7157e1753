import { SERVICE_VERSION, REASONS, routes, StreamFrames, type Route } from '@postroad/contract'
import { NAMED_SCHEMAS } from '@postroad/contract/openapi'
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { z } from 'zod'
import { convert, isJson, type Json } from '../../server/src/surfaces/admin/openapi/schemas.ts'
import { SHAPES } from '../src/contract.ts'

/**
 * The two files that replace `src/contract.ts` in the published package: the types of the contract without zod, made by
 * openapi-typescript from the JSON Schemas of the OpenAPI document, and the shapes of its routes as data (ADR 151).
 */
export async function contractAsTypes(): Promise<Readonly<Record<string, string>>> {
  const operations = Object.entries(routes).flatMap(([room, verbs]) =>
    Object.entries<Route>(verbs).map(([verb, route]) => operationOf(room, verb, route)),
  )
  const sent = Object.fromEntries(operations.map(({ request, route }) => [request, requestOf(route)]))
  const shown: Record<string, z.ZodType> = { EventsSendResponse: NAMED_SCHEMAS.Accepted }
  for (const { response, route } of operations) if (route.download === undefined) shown[response] = route.output
  for (const [type, frame] of Object.entries<z.ZodType>(StreamFrames)) shown[frameName(type)] = frame
  const { components, of } = convert(sent, shown)
  const keys = [...Object.keys(sent), ...Object.keys(shown)]
  const schemas = { ...Object.fromEntries(keys.map((key) => [key, of(key)])), ...components }
  return { 'schemas.ts': await typesOf(schemas), 'contract.ts': sourceOf(operations, schemas) }
}

type Operation = {
  readonly room: string
  readonly verb: string
  readonly route: Route
  /** The names of its types. */
  readonly request: string
  readonly response: string
}

function operationOf(room: string, verb: string, route: Route): Operation {
  const name = capital(room) + capital(verb)
  return { room, verb, route, request: `${name}Request`, response: `${name}Response` }
}

/** Names that would hide a type of the language. */
const NAMES: Readonly<Record<string, string>> = { Record: 'RecordItem', Error: 'ErrorBody' }

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
const frameName = (type: string): string => `Stream${capital(type)}`

/** The members of path, query and body in one object, as a method takes them. */
function requestOf({ params, query, body }: Route): z.ZodType {
  return z.object({ ...params?.shape, ...query?.shape, ...body?.shape })
}

async function typesOf(schemas: Readonly<Record<string, Json>>): Promise<string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON Schemas of zod are the schemas of OpenAPI 3.1
  const document = {
    openapi: '3.1.0',
    info: { title: 'Postroad', version: SERVICE_VERSION },
    paths: {},
    components: { schemas },
  } as unknown as OpenAPI3
  return astToString(await openapiTypescript(document, { silent: true, emptyObjectsUnknown: true }))
}

function sourceOf(operations: readonly Operation[], schemas: Readonly<Record<string, Json>>): string {
  const named = Object.keys(schemas)
    .toSorted()
    .map((name) => `export type ${NAMES[name] ?? name} = Schemas['${name}']`)
  const rooms = Object.entries(Object.groupBy(operations, ({ room }) => room))
  return [
    `import type { CallOptions, Pages } from './call.ts'`,
    `import type { RouteShapes } from './route-shape.ts'`,
    `import type { components } from './schemas.ts'`,
    `type Schemas = components['schemas']`,
    named.join('\n'),
    `/** The version of the contract that every request names. */\nexport const SERVICE_VERSION = ${JSON.stringify(SERVICE_VERSION)}`,
    `/** The reasons of the contract. */\nexport type Reason =\n${Object.keys(REASONS)
      .map((reason) => `  | '${reason}'`)
      .join('\n')}`,
    `/** A reason of the contract, or one that a newer server gives. */\nexport type RefusalReason = Reason | (string & {})`,
    `/** The content of each event of the stream. */\nexport type StreamFrameData = {\n${Object.keys(StreamFrames)
      .map((type) => `  readonly ${type}: ${frameName(type)}`)
      .join('\n')}\n}`,
    ...rooms.map(([room, own = []]) => roomText(room, own, schemas)),
    `/** Every route of the admin API as a method. */\nexport interface Client {\n${rooms
      .map(([room]) => `  readonly ${room}: ${capital(room)}Methods`)
      .join('\n')}\n}`,
    `export const SHAPES: RouteShapes = ${JSON.stringify(SHAPES)}`,
  ].join('\n\n')
}

function roomText(room: string, operations: readonly Operation[], schemas: Readonly<Record<string, Json>>): string {
  const methods = operations.map(({ verb, route, request, response }) => {
    const properties = schemas[request]?.['properties']
    const sent = isJson(properties) && Object.keys(properties).length > 0 ? request : 'Record<string, never>'
    const optional = isOptional(schemas[request]) ? '?' : ''
    const text = `${route.summary}. ${route.description}`.replaceAll('*/', '*\\/')
    return `  /** ${text} */\n  ${verb}(request${optional}: ${sent}, options?: CallOptions): ${answerOf(route, response)}`
  })
  return `export interface ${capital(room)}Methods {\n${methods.join('\n')}\n}`
}

function isOptional(request: Json | undefined): boolean {
  const required = request?.['required']
  return !Array.isArray(required) || required.length === 0
}

function answerOf({ download, output }: Route, response: string): string {
  if (download !== undefined)
    return `Promise<AsyncIterable<${download.stored === true || download.bytes === true ? 'Uint8Array' : 'string'}>>`
  const items = 'shape' in output && isJson(output.shape) && 'next_cursor' in output.shape ? listName(output.shape) : ''
  return items === '' ? `Promise<${response}>` : `Pages<${response}['${items}'][number], ${response}>`
}

function listName(shape: Json): string {
  return Object.entries(shape).find(([, member]) => member instanceof z.ZodArray)?.[0] ?? ''
}
