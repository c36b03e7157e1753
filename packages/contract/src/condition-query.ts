import { z } from 'zod'
import { CONDITION_OPS } from './condition-ops.ts'
import { Conditions } from './condition.ts'
import { isBeyondDouble, plainDecimalText } from './decimal.ts'

const FORM = 'a condition is <path>:<op>:<value>, such as amount:gt:100 or id:exists'

/** A list as JSON, of which the parts between the commas would never match. */
function isJsonList(text: string): boolean {
  try {
    return Array.isArray(JSON.parse(text))
  } catch {
    return false
  }
}

/** How to write a condition that has another form. */
function remedyOf(bad: string): string {
  const [, before = '', list = ''] = /^([^]*:in:)(\[[^]*\])$/.exec(bad) ?? []
  if (!isJsonList(list)) return `${FORM}; "${bad.slice(0, 80)}" has another form`
  const values = list.slice(1, -1).replaceAll(/["\s]/g, '')
  return `separate the values of "in" with commas, without brackets and quotes: ${`${before}${values}`.slice(0, 160)}`
}

/** `<path>:<op>:<value>` → a condition: gt, gte, lt and lte take a number, and `in` takes a list. */
function conditionOf(text: string): object | undefined {
  const [, sent = '', op = '', value] = /^((?:\\.|[^:\\])+):([a-z_]+)(?::([^]*))?$/.exec(text) ?? []
  // Here `\:` is a literal colon in a key. Every other backslash belongs to the path.
  const path = sent.replaceAll(/\\(.)/g, (pair, letter) => (letter === ':' ? ':' : pair))
  if (!CONDITION_OPS.some((one) => one === op)) return undefined
  if (op === 'exists') return value === undefined ? { path, op } : undefined
  if (value === undefined) return undefined
  if (op === 'in') return isJsonList(value) ? undefined : { path, op, value: value.split(',') }
  if (['gt', 'gte', 'lt', 'lte'].includes(op))
    return value.trim() === '' ? undefined : { path, op, value: boundOf(value) }
  return { path, op, value }
}

/** A number that a double would round stays text, so that every digit counts. */
function boundOf(text: string): number | string {
  const decimal = plainDecimalText(text)
  return decimal !== undefined && isBeyondDouble(decimal) ? decimal : Number(text)
}

/** The conditions of a query, each read from its text. */
function conditionsFrom(read: (text: string) => object | undefined) {
  return z
    .union([z.string(), z.array(z.string())])
    .optional()
    .transform((sent, context) => {
      const texts = sent === undefined ? [] : [sent].flat()
      const parsed = Conditions.safeParse(texts.map(read))
      if (parsed.success) return parsed.data
      const bad = texts.find((text) => read(text) === undefined)
      context.issues.push({
        code: 'custom',
        input: sent,
        message: bad === undefined ? (parsed.error.issues[0]?.message ?? FORM) : remedyOf(bad),
      })
      return z.NEVER
    })
}

/** The parameter can be repeated; all conditions must match. */
export const PayloadConditions = conditionsFrom(conditionOf).describe(
  'Conditions on the payload as `<path>:<op>:<value>`, in the syntax of rules. Write a literal colon in a path as `\\:`, and separate the values of `in` with commas. All must match.',
)

/** The name of a header is one step of a path, with any characters. */
function headerConditionOf(text: string): object | undefined {
  const [, name = '', rest = ''] = /^([^:]+)(:[^]*)$/.exec(text) ?? []
  return conditionOf(name.toLowerCase().replaceAll(/[.\\]/g, String.raw`\$&`) + rest)
}

/** The same for headers. */
export const HeaderConditions = conditionsFrom(headerConditionOf).describe(
  'Conditions on the headers of the request as `<name>:<op>:<value>`, such as `x-github-event:equals:push`. The values of credentials are not stored. All must match.',
)

/** The same for the query string. */
export const QueryConditions = conditionsFrom(conditionOf).describe(
  'Conditions on the query string of the request as `<name>:<op>:<value>`, such as `tenant:equals:acme`. `\\.` is a dot in a name, and `tag.0` the first of several values. The values of credentials are not stored. All must match.',
)

/** The same for the responses to deliveries. */
export const ResponseConditions = conditionsFrom(conditionOf).describe(
  'Conditions on one response as `<path>:<op>:<value>`, such as `status:gte:500`, `body.error:contains:limit` or `error_code:equals:timeout`. Its members are status, error_code, error, headers and body. May be repeated: one response must match all conditions.',
)

/** The same for AI runs. */
export const OutputConditions = conditionsFrom(conditionOf).describe(
  'Conditions on the output and the error of a run as `<path>:<op>:<value>`, such as `output.label:equals:spam` or `error.reason:exists`. All must match.',
)
