import { z } from 'zod'
import { CONDITION_OPS } from './condition-ops.ts'
import { Conditions } from './condition.ts'

const FORM = 'a condition is <path>:<op>:<value>, such as data.amount:gt:100 or id:exists'

/** `<path>:<op>:<value>` → a condition: gt, gte, lt and lte take a number, and `in` takes a list. */
function conditionOf(text: string): object | undefined {
  const [, sent = '', op = '', value] = /^((?:\\.|[^:\\])+):([a-z_]+)(?::([^]*))?$/.exec(text) ?? []
  // `\:` is a literal colon of a key here. Every other backslash belongs to the path.
  const path = sent.replaceAll(/\\(.)/g, (pair, letter) => (letter === ':' ? ':' : pair))
  if (!CONDITION_OPS.some((one) => one === op)) return undefined
  if (op === 'exists') return value === undefined ? { path, op } : undefined
  if (value === undefined) return undefined
  if (op === 'in') return { path, op, value: value.split(',') }
  if (['gt', 'gte', 'lt', 'lte'].includes(op))
    return value.trim() === '' ? undefined : { path, op, value: Number(value) }
  return { path, op, value }
}

/** May be repeated: all conditions must match. */
export const PayloadConditions = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .transform((sent, context) => {
    const texts = sent === undefined ? [] : [sent].flat()
    const read = Conditions.safeParse(texts.map(conditionOf))
    if (read.success) return read.data
    const bad = texts.find((text) => conditionOf(text) === undefined)
    context.issues.push({
      code: 'custom',
      input: sent,
      message:
        bad === undefined ? (read.error.issues[0]?.message ?? FORM) : `${FORM}; "${bad.slice(0, 80)}" has another form`,
    })
    return z.NEVER
  })
  .describe(
    'Conditions on the payload as `<path>:<op>:<value>`, in the syntax of rules. Write a literal colon in a path as `\\:`, and separate the values of `in` with commas. May be repeated: all conditions must match.',
  )
