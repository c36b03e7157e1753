import { NAMED_SCHEMAS } from '@postroad/contract/openapi'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'

export type Json = Record<string, unknown>
type Io = 'input' | 'output'

const PLACE = '#/components/schemas/'
const NAMES = new Map<z.ZodType, string>(
  Object.entries<z.ZodType>(NAMED_SCHEMAS).map(([name, schema]) => [schema, name]),
)

/** The schemas of a document: those of its operations by key, and the named ones that they use. */
export type Schemas = { readonly of: (key: string) => Json; readonly components: Readonly<Record<string, Json>> }

/** Converts all schemas of a document together, so that each named one is converted once and referred to elsewhere. */
export function convert(
  sent: Readonly<Record<string, z.ZodType>>,
  shown: Readonly<Record<string, z.ZodType>>,
): Schemas {
  const inputs = converted(sent, 'input')
  const outputs = converted(shown, 'output')
  const components = new Map(reachable(Object.keys(shown), outputs).map((name) => [name, outputs.get(name) ?? {}]))
  const renamed = new Map<string, string>()
  for (const name of reachable(Object.keys(sent), inputs)) {
    const own = inputs.get(name) ?? {}
    const other = components.get(name)
    // A closed object and an open one count as the same schema here: responses are open only for members of later releases.
    const input = other === undefined || isDeepStrictEqual(opened(own), opened(other)) ? name : `${name}Input`
    components.set(input, own)
    renamed.set(name, input)
  }
  const asInput = (json: Json): Json => withRefs(json, (name) => renamed.get(name) ?? name)
  for (const [name, input] of renamed) components.set(input, withoutDefaults(asInput(inputs.get(name) ?? {})))
  const ofSent = (key: string): Json => {
    const json = asInput(inputs.get(key) ?? {})
    return key.endsWith(':query') ? json : withoutDefaults(json)
  }
  return {
    of: (key) => (key in sent ? ofSent(key) : (outputs.get(key) ?? {})),
    components: Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

function converted(keyed: Readonly<Record<string, z.ZodType>>, io: Io): ReadonlyMap<string, Json> {
  const registry = z.registry<{ id: string }>()
  for (const [schema, name] of NAMES) registry.add(schema, { id: name })
  // A clone, because two operations may share a schema, and a registry stores one name for each.
  for (const [key, schema] of Object.entries(keyed)) if (!NAMES.has(schema)) registry.add(schema.clone(), { id: key })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => PLACE + id,
    override: ({ jsonSchema }) => tidy(jsonSchema, io),
  })
  const all = new Map<string, Json>(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _place, ...json }]) => [id, json]),
  )
  for (const [key, schema] of Object.entries(keyed)) {
    const name = NAMES.get(schema)
    if (name !== undefined) all.set(key, { $ref: PLACE + name })
  }
  return all
}

/** Removes the safe-integer bounds that zod adds, and opens output objects, which may get new members in a version. */
function tidy(json: Json, io: Io): void {
  for (const bound of ['minimum', 'maximum'])
    if (Math.abs(Number(json[bound])) === Number.MAX_SAFE_INTEGER) delete json[bound]
  if (io === 'output' && json['additionalProperties'] === false) delete json['additionalProperties']
}

const opened = (json: Json): unknown =>
  mapped(json, (object) => {
    const { additionalProperties, ...rest } = object
    return additionalProperties === false || additionalProperties === undefined ? rest : object
  })

const withRefs = (json: Json, rename: (name: string) => string): Json =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object stays an object
  mapped(json, (object) =>
    typeof object['$ref'] === 'string'
      ? { ...object, $ref: PLACE + rename(object['$ref'].slice(PLACE.length)) }
      : object,
  ) as Json

/** openapi-typescript treats a member with a default as required, so bodies state their defaults in descriptions. */
const withoutDefaults = (json: Json): Json =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object stays an object
  mapped(json, (object) => {
    const { properties } = object
    if (!isJson(properties)) return object
    return {
      ...object,
      properties: Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, inWords(of)])),
    }
  }) as Json

function inWords(of: unknown): unknown {
  if (!isJson(of) || !('default' in of)) return of
  const { default: otherwise, description = '', ...rest } = of
  return { ...rest, description: `${String(description)} Default: \`${JSON.stringify(otherwise)}\`.`.trim() }
}

function mapped(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(change(value)).map(([name, member]) => [name, mapped(member, change)]))
}

/** The named schemas that the schemas of these keys refer to, directly or through others. */
function reachable(keys: readonly string[], all: ReadonlyMap<string, Json>): readonly string[] {
  const found = new Set<string>()
  const open = [...keys]
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    for (const name of refsIn(all.get(key))) {
      if (found.has(name)) continue
      found.add(name)
      open.push(name)
    }
  }
  return [...found]
}

function refsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn)
  if (!isJson(value)) return []
  const own = typeof value['$ref'] === 'string' ? [value['$ref'].slice(PLACE.length)] : []
  return [...own, ...Object.values(value).flatMap(refsIn)]
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
