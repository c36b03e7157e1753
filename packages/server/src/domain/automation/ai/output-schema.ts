import { LIMITS } from '@postroad/contract'
import { z } from 'zod'

/**
 * The keywords of the JSON Schema of an agent's output. Every provider supports them, and they take linear time to
 * check, so the length of an output bounds the cost of a tenant's schema.
 */
const KEYWORDS = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  'const',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'title',
  'description',
])
/** The forms of the keywords that are not schemas themselves. Each is a part of a sentence. */
const FORMS: Readonly<Record<string, readonly [form: string, holds: (value: unknown) => boolean]>> = {
  required: ['a list of names', (value) => isList(value, isText)],
  enum: ['a list of texts, numbers, true, false or null', (value) => isList(value, isScalar) && value.length > 0],
  const: ['text, a number, true, false or null', isScalar],
  minimum: ['a number', isNumber],
  maximum: ['a number', isNumber],
  minItems: ['a whole number from 0', isCount],
  maxItems: ['a whole number from 0', isCount],
  minLength: ['a whole number from 0', isCount],
  maxLength: ['a whole number from 0', isCount],
  title: ['text', isText],
  description: ['text', isText],
}
const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'])

export type OutputSchema = Readonly<Record<string, unknown>>

/** The reason why a schema cannot be used, as a sentence; undefined: it can. */
export function schemaProblem(schema: unknown): string | undefined {
  if (JSON.stringify(schema).length > LIMITS.agentSchemaCharsMax)
    return `The schema has more than ${LIMITS.agentSchemaCharsMax} characters; shorten it.`
  if (!isObject(schema) || schema['type'] !== 'object') return 'The schema must have the type "object".'
  return problemAt(schema, { path: 'output_schema', depth: 1 })
}

function problemAt(schema: unknown, { path, depth }: { path: string; depth: number }): string | undefined {
  if (!isObject(schema)) return `${path} must be an object.`
  if (depth > LIMITS.agentSchemaDepthMax)
    return `${path} is nested more than ${LIMITS.agentSchemaDepthMax} levels deep; flatten it.`
  const problem = keywordProblem(schema, path)
  if (problem !== undefined) return problem
  for (const [name, of] of schemasIn(schema)) {
    const inner = problemAt(of, { path: `${path}.${name}`, depth: depth + 1 })
    if (inner !== undefined) return inner
  }
  return undefined
}

function keywordProblem(schema: OutputSchema, path: string): string | undefined {
  const unknown = Object.keys(schema).find((keyword) => !KEYWORDS.has(keyword))
  if (unknown !== undefined)
    return `${path} has the keyword ${JSON.stringify(unknown)}, which is not supported. Remove it.`
  const wrongForm = Object.entries(schema).find(([keyword, value]) => FORMS[keyword]?.[1](value) === false)?.[0]
  if (wrongForm !== undefined) return `${path}.${wrongForm} must be ${FORMS[wrongForm]?.[0] ?? ''}.`
  const { type, properties = {} } = schema
  const types = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const wrong = types.find((one) => typeof one !== 'string' || !TYPES.has(one))
  if (wrong !== undefined) return `${path}.type is not a type of JSON Schema: ${JSON.stringify(wrong)}.`
  return isObject(properties) ? undefined : `${path}.properties must be an object.`
}

/** The schemas within a schema, with their places in it. */
function schemasIn({
  properties,
  additionalProperties: others,
  items,
}: OutputSchema): readonly (readonly [string, unknown])[] {
  return [
    ...Object.entries(isObject(properties) ? properties : {}).map(([name, of]) => [`properties.${name}`, of] as const),
    ...(others === undefined || typeof others === 'boolean' ? [] : [['additionalProperties', others] as const]),
    ...(items === undefined ? [] : [['items', items] as const]),
  ]
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number'
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0
}

function isScalar(value: unknown): boolean {
  return value === null || isText(value) || isNumber(value) || typeof value === 'boolean'
}

function isList(value: unknown, isItem: (item: unknown) => boolean): value is readonly unknown[] {
  return Array.isArray(value) && value.every(isItem)
}

const isObject = (value: unknown): value is OutputSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The reason why a value does not fit the schema; undefined: it does. */
export function outputProblem(schema: OutputSchema, value: unknown): string | undefined {
  const readable = readSchema(schema)
  if (readable === undefined) return 'The schema cannot be read. Correct the schema, and save the agent again.'
  const parsed = readable.safeParse(value)
  if (parsed.success) return undefined
  const [issue] = parsed.error.issues
  const path = issue === undefined ? '' : issue.path.map(String).join('.')
  return `${path === '' ? 'The output' : path}: ${issue?.message ?? 'does not fit the schema'}.`
}

/** undefined: it was saved before its keywords were checked as they are today. */
function readSchema(schema: OutputSchema): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema)
  } catch {
    return undefined
  }
}
