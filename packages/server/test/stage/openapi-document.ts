import { z } from 'zod'

type Schema = Record<string, unknown>
type Media = {
  readonly schema: Schema
  readonly example?: unknown
  readonly examples?: Record<string, { value: unknown }>
}
export type ApiAnswer = { readonly description: string; readonly content?: Record<string, Media> }
export type Operation = {
  operationId: string
  tags: string[]
  summary: string
  description: string
  parameters: { name: string; in: string; required?: boolean; schema: Schema }[]
  requestBody?: { content: Record<string, Media> }
  responses: Record<string, ApiAnswer | { readonly $ref: string }>
}
export type OpenApi = {
  openapi: string
  info: object
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  components: { schemas: Record<string, Schema>; responses: Record<string, ApiAnswer> }
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
}

/** /openapi.json as the server answers it. */
export async function openapi(baseUrl: string): Promise<OpenApi> {
  return (await (await fetch(`${baseUrl}/openapi.json`)).json()) as OpenApi
}

const asDefinitions = (schema: unknown): string =>
  JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/')

/** A schema of the document as a parser, with the named schemas that it refers to. */
export function parserOf(document: Pick<OpenApi, 'components'>, schema: unknown): z.ZodType {
  const text = asDefinitions(schema)
  return z.fromJSONSchema({
    ...(JSON.parse(text) as Schema),
    $defs: definitionsIn(document, text),
  })
}

/** Not all named schemas, because zod copies whatever it gets. */
function definitionsIn({ components }: Pick<OpenApi, 'components'>, text: string): Readonly<Record<string, Schema>> {
  const found: Record<string, Schema> = {}
  const reach = (from: string): void => {
    for (const [, name = ''] of from.matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (name in found || !(name in components.schemas)) continue
      const definition = asDefinitions(components.schemas[name])
      found[name] = JSON.parse(definition) as Schema
      reach(definition)
    }
  }
  reach(text)
  return found
}

/** An answer of an operation, also where the document refers to a shared one. */
export function answerOf(document: OpenApi, operation: Operation, status: string): ApiAnswer | undefined {
  const answer = operation.responses[status]
  if (answer === undefined || !('$ref' in answer)) return answer
  return document.components.responses[answer.$ref.split('/').at(-1) ?? '']
}

/** The reasons that an operation documents for a status. */
export function reasonsIn(document: OpenApi, operation: Operation, status: number): readonly string[] {
  const media = answerOf(document, operation, String(status))?.content?.['application/json']
  return Object.keys(media?.examples ?? {})
}

export function operationsOf(document: OpenApi): readonly { path: string; method: string; operation: Operation }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )
}

function targetOf(components: object, ref: string | undefined): object | undefined {
  const [, , group = '', name = ''] = ref?.split('/') ?? []
  return (components as Record<string, Record<string, object>>)[group]?.[name]
}

/**
 * A part of a document with all references resolved, for tests that read schemas member by member. Where a schema contains
 * itself, anything is allowed the second time.
 */
export function inlined<Part>(part: Part, { components }: { readonly components: object }): Part {
  const place = (value: unknown, inside: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((one) => place(one, inside))
    if (typeof value !== 'object' || value === null) return value
    const { $ref: ref, ...beside } = value as { $ref?: string }
    if (ref !== undefined && inside.includes(ref)) return {}
    const within = ref === undefined ? inside : [...inside, ref]
    const target = targetOf(components, ref)
    return Object.fromEntries(Object.entries({ ...target, ...beside }).map(([key, one]) => [key, place(one, within)]))
  }
  return place(part, []) as Part
}
