import { ID_PREFIXES, type IdKind } from '@postroad/contract'
import { EXAMPLE_TIME, exampleId, MEMBER_EXAMPLES } from '@postroad/contract/openapi'
import { isJson, type Json } from './schemas.ts'

type Components = Readonly<Record<string, Json>>
/** The named schema and the member that a value is for. */
type At = { readonly owner?: string | undefined; readonly member?: string | undefined; readonly target?: string }

const KINDS = new Map(Object.keys(ID_PREFIXES).map((kind) => [kind.toLowerCase(), kind]))
const KIND_OF_PREFIX = new Map(Object.entries(ID_PREFIXES).map(([kind, prefix]) => [prefix as string, kind]))

/** A value that a schema allows, with the contract's example values of its members. */
export function exampleOf(schema: unknown, components: Components, at: At = {}): unknown {
  if (!isJson(schema)) return {}
  const known = knownValue(schema, components, at)
  if (known !== undefined) return known.value
  const target = targetOf(schema, components)
  if (target !== undefined) return exampleOf(target.schema, components, { target: target.name })
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if ('default' in schema) return schema['default']
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return choiceOf(choices, components, at)
  return ofType(schema, components, at)
}

/** null if the schema allows it, unless one of the choices is an object, which a reader wants to see. */
// oxlint-disable-next-line max-params -- the choices, what they refer to, and which member they are for
function choiceOf(choices: readonly unknown[], components: Components, at: At): unknown {
  const seen = choices.find((choice) => isJson(choice) && ('$ref' in choice || typesOf(choice).includes('object')))
  const nullable = choices.some((choice) => isJson(choice) && typesOf(choice).includes('null'))
  if (seen === undefined && nullable) return null
  return exampleOf(seen ?? choices[0], components, at)
}

// oxlint-disable-next-line max-params -- the schema, what it refers to, and which member it is for
function ofType(schema: Json, components: Components, at: At): unknown {
  const types = typesOf(schema)
  switch (types.includes('null') ? 'null' : types[0]) {
    case 'object':
      return objectOf(schema, components, at)
    case 'array':
      return [exampleOf(schema['items'], components, { member: at.member })]
    case 'string':
      return textOf(schema, at)
    case 'integer':
    case 'number':
      return Math.max(0, Number(schema['minimum'] ?? 0))
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return {}
  }
}

// oxlint-disable-next-line max-params -- the schema, what it refers to, and which member it is for
function objectOf(schema: Json, components: Components, at: At): Json {
  const owner = at.target ?? ownerNamed(at.member)
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const members = Object.entries(isJson(schema['properties']) ? schema['properties'] : {})
  return Object.fromEntries(
    members
      .filter(([member]) => required.includes(member) || `${owner}.${member}` in MEMBER_EXAMPLES)
      .map(([member, of]) => [member, exampleOf(of, components, { owner, member })]),
  )
}

/** `deliveries` → Delivery: an object without a name is named after its member. */
function ownerNamed(member: string | undefined): string | undefined {
  const one = member?.replace(/ies$/, 'y').replace(/s$/, '')
  return one === undefined ? undefined : one.slice(0, 1).toUpperCase() + one.slice(1)
}

function textOf(schema: Json, { owner, member = '' }: At): string {
  const [pattern, description] = [textIn(schema['pattern']), textIn(schema['description'])]
  const prefix = /^([a-z]{3,4})_/.exec(pattern.slice(1))?.[1] ?? /^([a-z]{3,4})_/.exec(description)?.[1] ?? ''
  const found = KIND_OF_PREFIX.get(prefix)
  if (found !== undefined) return exampleId(kind(found))
  if (schema['format'] === 'date-time' || description.includes('RFC 3339') || member.endsWith('_at'))
    return EXAMPLE_TIME
  const named = KINDS.get(kindNamed({ owner, member }))
  return named === undefined ? 'text' : exampleId(kind(named))
}

/** `webhook_id` → webhook. The id of an object itself has the kind of that object. */
function kindNamed({ owner = '', member = '' }: At): string {
  const word = member === 'id' ? owner : (/^(.*)_ids?$/.exec(member)?.[1] ?? '')
  return word.replaceAll('_', '').toLowerCase()
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- both maps are made from the kinds
const kind = (text: string): IdKind => text as IdKind

/** The value that the contract names for this member, if the schema allows it. */
// oxlint-disable-next-line max-params -- the schema, what it refers to, and which member it is for
function knownValue(
  schema: Json,
  components: Components,
  { owner, member }: At,
): { readonly value: unknown } | undefined {
  if (member === undefined) return undefined
  const name = [`${owner}.${member}`, member].find((one) => one in MEMBER_EXAMPLES)
  if (name === undefined) return undefined
  const value = MEMBER_EXAMPLES[name]
  return allows(schema, components, value) ? { value } : undefined
}

/** Whether a schema allows a value, by its type, pattern and listed values. Several schemas can have the same member name. */
// oxlint-disable-next-line max-params -- the schema, what it refers to, and the value
function allows(schema: unknown, components: Components, value: unknown): boolean {
  if (!isJson(schema)) return true
  const target = targetOf(schema, components)
  if (target !== undefined) return allows(target.schema, components, value)
  if ('const' in schema) return schema['const'] === value
  if (Array.isArray(schema['enum'])) return schema['enum'].includes(value)
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return choices.some((choice) => allows(choice, components, value))
  const types = typesOf(schema)
  const pattern = textIn(schema['pattern'])
  if (pattern !== '' && typeof value === 'string' && !new RegExp(pattern, 'u').test(value)) return false
  return (
    types.length === 0 ||
    types.some((type) => isOfType(type, value, (item) => allows(schema['items'], components, item)))
  )
}

// oxlint-disable-next-line max-params -- the type, the value, and the check of its items
function isOfType(type: unknown, value: unknown, isItem: (item: unknown) => boolean): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value) && value.every(isItem)
    case 'object':
      return isJson(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

/** The types of a schema: one, several, or none when any type is allowed. */
function typesOf({ type }: Json): readonly unknown[] {
  return type === undefined ? [] : [type].flat()
}

function targetOf(schema: Json, components: Components): { readonly name: string; readonly schema: Json } | undefined {
  const name = typeof schema['$ref'] === 'string' ? (schema['$ref'].split('/').at(-1) ?? '') : undefined
  return name === undefined ? undefined : { name: name.replace(/Input$/, ''), schema: components[name] ?? {} }
}
