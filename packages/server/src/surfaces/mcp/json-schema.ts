import { z } from 'zod'

/** A JSON Schema, as far as tools use one. */
export type JsonSchema = {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly additionalProperties?: JsonSchema | boolean
  readonly pattern?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, JsonSchema>>
}

const DESCRIPTION_CHARS_MAX = 240

/** The members of a schema that a client sends, in a form that is short enough for a model. The route itself checks every bound. */
export function inputSchema(fields: z.ZodObject): JsonSchema {
  const schema = asJsonSchema(fields, 'input')
  return compact(schema, { definitions: schema.$defs ?? {}, inside: [] })
}

/** The members of an answer and of the items of its lists. Deeper parts may be cut, so they are not described. */
export function outputSchema(output: z.ZodType): JsonSchema {
  const schema = asJsonSchema(output, 'output')
  return shallow(compact(schema, { definitions: schema.$defs ?? {}, inside: [] }), 2)
}

function asJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a JSON Schema has these members
  return z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as JsonSchema
}

type Reading = { readonly definitions: Readonly<Record<string, JsonSchema>>; readonly inside: readonly string[] }

function compact(schema: JsonSchema, reading: Reading): JsonSchema {
  if (schema.$ref !== undefined) return referred(schema.$ref, reading)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return described(chosen(choices, reading), schema)
  const { properties, required, items, additionalProperties } = schema
  return described(
    {
      ...plainOf(schema),
      ...(properties === undefined ? {} : { properties: compactAll(properties, reading) }),
      ...(required === undefined || required.length === 0 ? {} : { required }),
      ...(items === undefined ? {} : { items: compact(items, reading) }),
      ...(typeof additionalProperties === 'object'
        ? { additionalProperties: compact(additionalProperties, reading) }
        : {}),
    },
    schema,
  )
}

/** The type, the values and the bounds, but not the bounds that every integer has. */
function plainOf({ type, enum: values, const: value, minimum, maximum }: JsonSchema): JsonSchema {
  return {
    ...(type === undefined ? {} : { type }),
    ...(values === undefined ? {} : { enum: values }),
    ...(value === undefined ? {} : { enum: [value] }),
    ...(minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  }
}

function compactAll(
  properties: Readonly<Record<string, JsonSchema>>,
  reading: Reading,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, compact(schema, reading)]))
}

/** A part that contains itself, such as the steps of a branch, is described once. */
function referred(ref: string, { definitions, inside }: Reading): JsonSchema {
  const name = ref.split('/').at(-1) ?? ''
  const definition = definitions[name]
  if (definition === undefined || inside.includes(name)) return { type: 'object' }
  return compact(definition, { definitions, inside: [...inside, name] })
}

/** Forms that are all objects become one object with the members of all of them, because models choose poorly between many forms. */
function chosen(choices: readonly JsonSchema[], reading: Reading): JsonSchema {
  const present = choices.filter(({ type }) => type !== 'null').map((choice) => compact(choice, reading))
  const isNullable = present.length < choices.length
  const [only] = present
  if (only === undefined) return { type: 'null' }
  const objects = present.every(({ type, properties }) => type === 'object' && properties !== undefined)
  const one = present.length === 1 ? only : objects ? merged(present) : { anyOf: present }
  if (!isNullable) return one
  return typeof one.type === 'string' ? { ...one, type: [one.type, 'null'] } : { anyOf: [one, { type: 'null' }] }
}

function merged(forms: readonly JsonSchema[]): JsonSchema {
  const properties: Record<string, JsonSchema> = {}
  for (const form of forms)
    // A default of one form is not a default of the others.
    for (const [name, { default: _default, ...schema }] of Object.entries(form.properties ?? {})) {
      const known = properties[name]
      const values =
        known?.enum === undefined || schema.enum === undefined ? undefined : [...known.enum, ...schema.enum]
      properties[name] =
        known === undefined ? schema : values === undefined ? known : { ...known, enum: [...new Set(values)] }
    }
  const required = Object.keys(properties).filter((name) =>
    forms.every((form) => form.required?.includes(name) === true),
  )
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }
}

function described(to: JsonSchema, from: JsonSchema): JsonSchema {
  const { default: value } = from
  const prefix = /^\^([a-z]+)_\[/.exec(from.pattern ?? '')?.[1]
  const description = from.description ?? to.description ?? (prefix === undefined ? undefined : `${prefix}_…`)
  return {
    ...to,
    ...(description === undefined ? {} : { description: shortened(description) }),
    ...(value === undefined || typeof value === 'object' ? {} : { default: value }),
  }
}

/** Whole sentences, as many as fit; at least the first. */
function shortened(text: string): string {
  if (text.length <= DESCRIPTION_CHARS_MAX) return text
  const [first = '', ...others] = text.split(/(?<=\.) (?=[A-Z`])/)
  let short = first
  for (const sentence of others) {
    if (short.length + sentence.length >= DESCRIPTION_CHARS_MAX) break
    short += ` ${sentence}`
  }
  return short.length <= DESCRIPTION_CHARS_MAX * 2 ? short : `${short.slice(0, DESCRIPTION_CHARS_MAX * 2)}…`
}

function shallow(schema: JsonSchema, depth: number): JsonSchema {
  const { type, properties, items } = schema
  if (depth === 0 || (properties === undefined && items === undefined)) return type === undefined ? {} : { type }
  return {
    ...(type === undefined ? {} : { type }),
    ...(items === undefined ? {} : { items: shallow(items, depth) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, shallow(member, depth - 1)]),
          ),
        }),
  }
}
