import { z } from 'zod'
import { CONDITION_OPS, type ConditionOp } from './condition-ops.ts'
import { isBeyondDouble, plainDecimalText } from './decimal.ts'
import { PATH_PROBLEMS, pathProblem, requestProblem, requestSteps, splitPath } from './dot-path.ts'
import { LIMITS } from './limits.ts'

/** A dot path into a JSON document. */
export const PlainPath = z
  .string('A path is text, such as "items.0.id".')
  .min(1, PATH_PROBLEMS.empty)
  .max(LIMITS.conditionPathCharsMax, `A path has at most ${LIMITS.conditionPathCharsMax} characters; shorten it.`)
  // One message for an empty path. No check aborts, because a union reports only the messages of a member that ran to the end.
  .refine((path) => pathProblem(path) !== PATH_PROBLEMS.emptyStep, PATH_PROBLEMS.emptyStep)

/** A dot path into the payload of an event, or into its request: `$request.headers.x-topic`. */
export const DotPath = PlainPath.superRefine((path, ctx) => {
  const message = requestProblem(requestSteps(path))
  if (message !== undefined && !splitPath(path).includes('')) ctx.addIssue({ code: 'custom', message })
})

const MEMBERS = ['path', 'op', 'value', 'equals']

const Scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
export type Scalar = z.infer<typeof Scalar>

const Stored = z.union([
  z.strictObject({ path: DotPath, equals: Scalar }),
  z.strictObject({ path: DotPath, op: z.literal('not_equals'), value: Scalar }),
  z.strictObject({ path: DotPath, op: z.literal('in'), value: z.array(Scalar) }),
  z.strictObject({ path: DotPath, op: z.enum(['contains', 'regex']), value: z.string() }),
  z.strictObject({ path: DotPath, op: z.enum(['gt', 'gte', 'lt', 'lte']), value: z.union([z.number(), z.string()]) }),
  z.strictObject({ path: DotPath, op: z.literal('exists') }),
])

// Loose, because a pipe loses the issue of a strict object; `problemOf` refuses unknown members instead.
const Sent = z
  .looseObject(
    {
      path: DotPath.describe(
        'Dot path into the payload (`\\.`: a dot in a key), or `$request.headers.x`, `.query.x`, `.method`, `.path`.',
      ),
      op: z.enum(CONDITION_OPS, `The op is one of ${CONDITION_OPS.join(', ')}.`).optional(),
      value: z
        .unknown()
        .optional()
        .describe('Not for `exists`. `gt`, `gte`, `lt` and `lte` take a number, or its text.'),
      equals: z.unknown().optional().describe('Short for op `equals` with this value.'),
    },
    'A condition is an object with path, op and value, or with path and equals.',
  )
  .superRefine((sent, ctx) => {
    const message = problemOf(sent)
    if (message !== undefined) ctx.addIssue({ code: 'custom', message })
  })
  .meta({ additionalProperties: false })

/** One condition, sent as `{path, op, value}` or `{path, equals}`. An exact match is stored as `{path, equals}`. */
export const Condition = Sent.transform((sent): z.input<typeof Stored> => {
  const { path, op = 'equals' } = sent
  if (op === 'exists') return { path, op }
  const value = 'equals' in sent ? sent.equals : sent.value
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Stored, next in the pipe, checks this shape
  return (op === 'equals' ? { path, equals: value } : { path, op, value }) as z.input<typeof Stored>
}).pipe(Stored)
export type Condition = z.infer<typeof Condition>

/** A list of conditions. All must match; an empty list matches everything. */
export const Conditions = z
  .array(Condition, 'Conditions are a list.')
  .max(
    LIMITS.conditionsPerListMax,
    `A list has at most ${LIMITS.conditionsPerListMax} conditions; split the rule in two.`,
  )
export type Conditions = z.infer<typeof Conditions>

/** The problem with a condition, in one sentence. The server checks the syntax of a regex. */
function problemOf(sent: {
  readonly op?: ConditionOp | undefined
  readonly value?: unknown
  readonly equals?: unknown
}): string | undefined {
  const unknown = Object.keys(sent).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined)
    return `A condition has no property "${unknown}"; send path, op and value, or path and equals.`
  if ('equals' in sent) {
    if (sent.op !== undefined || 'value' in sent)
      return '"equals" cannot be combined with op and value. Remove them, or send them instead of "equals".'
    return scalarProblem(sent.equals)
  }
  if (sent.op === undefined) return 'A condition needs an op with its value, or the shorthand "equals".'
  if (sent.op === 'exists') return 'value' in sent ? '"exists" takes no value; remove it.' : undefined
  if (!('value' in sent)) return `"${sent.op}" needs a value; add it.`
  return valueProblem(sent.op, sent.value)
}

function valueProblem(op: Exclude<ConditionOp, 'exists'>, value: unknown): string | undefined {
  switch (op) {
    case 'equals':
    case 'not_equals':
      return scalarProblem(value)
    case 'contains':
      return typeof value === 'string' ? undefined : '"contains" needs text as its value.'
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return boundProblem(op, value)
    case 'in':
      return listProblem(value)
    case 'regex':
      return patternProblem(value)
  }
}

/** A bound is a number. One that JSON would round is written as text, so that it is compared with every digit. */
function boundProblem(op: ConditionOp, value: unknown): string | undefined {
  const decimal = typeof value === 'string' ? plainDecimalText(value) : undefined
  if (Number.isFinite(value) || (decimal !== undefined && isBeyondDouble(decimal))) return undefined
  return `"${op}" needs a finite number as its value, without quotes.`
}

function scalarProblem(value: unknown): string | undefined {
  if (typeof value === 'number') return numberProblem(value)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  return 'The value to compare with is text, a number, true, false or null; objects and lists cannot be compared.'
}

/** A larger number has already lost digits in JSON parsing, and would match neighboring numbers. */
function numberProblem(value: number): string | undefined {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined
  return 'A number beyond 2^53 loses digits; write it as text, in quotes.'
}

function listProblem(value: unknown): string | undefined {
  const { conditionInItemsMin: min, conditionInItemsMax: max } = LIMITS
  if (!Array.isArray(value) || value.length < min || value.length > max)
    return `"in" needs a list of ${min} to ${max} values.`
  return value.map(scalarProblem).find((problem) => problem !== undefined)
}

function patternProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return '"regex" needs a pattern as its value.'
  const max = LIMITS.regexPatternCharsMax
  if (value.length <= max) return undefined
  return `The pattern has ${value.length} characters. Shorten it to at most ${max}.`
}
