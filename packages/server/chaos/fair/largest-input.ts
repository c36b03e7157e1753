import { LIMITS, type Route } from '@postroad/contract'
import { z } from 'zod'

type Schema = z.core.JSONSchema.JSONSchema

/** About the largest body of a request, and a share of it for one of several members. */
const BODY_CHARS = LIMITS.adminBodyBytesMax - 60_000

const text = (chars: number): string => 'x'.repeat(chars)
const members = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, text(30)]))
const conditions = Array.from({ length: LIMITS.conditionsPerListMax }, (_, at) => ({
  path: `o.k${at}`,
  op: 'in',
  value: Array.from({ length: LIMITS.conditionInItemsMax }, (_item, item) => `${item}${text(170)}`),
}))
const mappings = Array.from({ length: LIMITS.mappingsPerListMax }, (_, at) => ({
  target: `t${at}`,
  value: text(BODY_CHARS / LIMITS.mappingsPerListMax - 40),
}))
const rule = (at: number): object => ({
  name: `rule ${at}`,
  dataset: 'routed',
  conditions: conditions.slice(0, 10).map((one) => ({ ...one, value: one.value.slice(0, 8) })),
})

/** The largest values of members whose rules no schema can say. */
const LARGEST: Readonly<Record<string, unknown>> = {
  conditions,
  criteria: conditions,
  mappings,
  payload: members(22_000),
  payloads: [members(22_000)],
  payload_template: { a: '{{data.o | default: 1}}'.repeat(400) },
  config: { version: 1, rules: Array.from({ length: 60 }, (_, at) => rule(at)) },
  steps: Array.from({ length: LIMITS.workflowStepsMax }, (_, at) => ({
    name: `s${at}`,
    type: 'transform',
    config: { mappings: [{ target: 'a', value: text(LIMITS.workflowTemplateCharsMax - 400) }] },
  })),
  data: members(1_600),
  body: text(BODY_CHARS),
  ip_allowlist: Array.from({ length: 64 }, (_, at) => `203.0.113.${at}/32`)
    .concat(['127.0.0.0/8', '::/0'])
    .slice(-64),
  columns: Array.from({ length: LIMITS.viewColumnsMax }, (_, at) => ({ key: `o.k${at}`, label: text(100) })),
  headers: Object.fromEntries(Array.from({ length: 32 }, (_, at) => [`X-H${at}`, text(2_000)])),
}

/** The members of a route's body, each with the largest value that its schema allows. */
export function largestMembers({ body }: Route): ReadonlyMap<string, unknown> {
  if (body === undefined) return new Map()
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any', reused: 'inline' })
  return new Map(
    Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const value = name in LARGEST ? LARGEST[name] : typeof member === 'object' ? largest(member) : undefined
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
}

/** The largest number of items in one response. */
export function largestLimit({ query }: Route): string | undefined {
  if (query === undefined) return undefined
  const { limit } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }).properties ?? {}
  return typeof limit === 'object' ? String(limit.maximum ?? LIMITS.listLimitMax) : undefined
}

const TEXT_CHARS_MAX = 200_000

const ITEMS_MAX = 1_000
const isFixed = ({ enum: values, const: value, format, pattern }: Schema): boolean =>
  [values, value, format, pattern].some((one) => one !== undefined)

function largest(schema: Schema): unknown {
  if (isFixed(schema)) return undefined
  if (schema.type === 'string') return text(Math.min(schema.maxLength ?? TEXT_CHARS_MAX, TEXT_CHARS_MAX))
  if (schema.type === 'array') return largestList(schema)
  return schema.type === 'object' && schema.properties === undefined ? members(5_000) : undefined
}

function largestList({ items, maxItems = ITEMS_MAX }: Schema): unknown {
  const item = typeof items === 'object' && !Array.isArray(items) ? largest(items) : undefined
  return item === undefined ? undefined : Array.from({ length: Math.min(maxItems, ITEMS_MAX) }, () => item)
}
