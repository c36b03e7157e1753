import type { z } from 'zod'

export type Where = 'path' | 'query' | 'body'

/** One sentence for the issues that a schema found: the place, the problem and the remedy. */
export function sentenceOf(
  issues: readonly z.core.$ZodIssue[],
  { value, where }: { value: unknown; where: Where },
): string {
  const [issue] = issues
  if (issue === undefined) return `The ${where} is not valid.`
  // A schema with a custom message accepts a repeated parameter.
  if (where === 'query' && issue.code !== 'custom' && issue.path.length === 1 && isRepeated(value, issue.path[0]))
    return `${String(issue.path[0])} is in the query more than once; send it once.`
  return issueText(issues, where)
}

function isRepeated(query: unknown, name: PropertyKey | undefined): boolean {
  return typeof query === 'object' && query !== null && name !== undefined && Array.isArray(Reflect.get(query, name))
}

function issueText(issues: readonly z.core.$ZodIssue[], where: string): string {
  const issue = strictest(issues)
  if (issue === undefined) return `The ${where} is not valid.`
  const place = placeOf(issue.path, where)
  if (issue.code === 'unrecognized_keys' && issue.message.startsWith('Unrecognized key')) {
    const [fields, them] = issue.keys.length === 1 ? ['field', 'it'] : ['fields', 'them']
    return `${place}: unknown ${fields} "${issue.keys.join('", "')}"; remove ${them}.`
  }
  if (issue.code === 'invalid_union' && issue.message === 'Invalid input') return unionText(issue, place)
  return sentenceAbout(issue.path.length === 0 ? `The ${where}` : place, demandOf(issue.message).replace(/\.?$/, '.'))
}

/** A demand that starts with its verb has the place as its subject: "name must not be empty." */
function sentenceAbout(place: string, demand: string): string {
  return /^(?:must|may|cannot|needs?|is|are|has|have|takes?|contains?|does) /.test(demand)
    ? `${place} ${demand}`
    : `${place}: ${demand}`
}

/** For a number outside of the safe range, the first issue names that range, and a later one the range of the member. */
function strictest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [first, ...others] = issues
  const isSafeBound = (first?.code === 'too_big' || first?.code === 'too_small') && first.origin === 'int'
  const closer = isSafeBound
    ? others.find((other) => other.code === first.code && other.path.join('.') === first.path.join('.'))
    : undefined
  return closer ?? first
}

/** The issue deepest inside one of the choices is the most precise. When no issue is inside a choice, all choices are named. */
function unionText({ path, errors }: z.core.$ZodIssueInvalidUnion, place: string): string {
  const deepest = errors.flat().toSorted((a, b) => b.path.length - a.path.length)[0]
  if (deepest !== undefined && deepest.path.length > 0)
    return issueText([{ ...deepest, path: [...path, ...deepest.path] }], place)
  const own = errors.flat().find(({ message }) => !message.startsWith('Invalid'))
  const choices = [...new Set(errors.map(([issue]) => choiceOf(issue)))].filter((choice) => choice !== undefined)
  // If only a bound is violated, the type is correct.
  const isBound = own?.code === 'too_big' || own?.code === 'too_small'
  if (own !== undefined && (isBound || choices.length === 0)) return issueText([{ ...own, path: [...path] }], place)
  return `${place} must be ${choices.join(' or ')}.`
}

function choiceOf(issue: z.core.$ZodIssue | undefined): string | undefined {
  if (issue === undefined) return undefined
  if (!issue.message.startsWith('Invalid')) return issue.message.replace(/^must be /, '')
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(', ')
  return issue.code === 'invalid_type' ? `of type ${typeName(issue.expected)}` : undefined
}

function placeOf(path: readonly PropertyKey[], where: string): string {
  const place = path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .replace(/^\./, '')
  return place === '' ? where : place
}

/** The library's names of types as names of JSON types. */
function typeName(name: string): string {
  return name === 'record' ? 'object' : name
}

/** Turns the library's messages into instructions. The messages of a schema stay as they are. */
function demandOf(message: string): string {
  return message
    .replace(/^Invalid input: expected int, received number$/, 'must be a whole number')
    .replace(/^Invalid input: expected number, received NaN$/, 'must be a number')
    .replace(
      /^Invalid input: expected (.+), received undefined$/,
      (_all, type: string) => `is required (${typeName(type)})`,
    )
    .replace(
      /^Invalid input: expected (.+), received (.+)$/,
      (_all, type: string, sent: string) => `must be of type ${typeName(type)}, not ${sent}`,
    )
    .replace(/^Too small: expected string to have >=1 characters$/, 'must not be empty')
    .replace(/^Too (?:small|big): expected \w+ to be >=?(-?[\d.]+)$/, 'must be at least $1')
    .replace(/^Too (?:small|big): expected \w+ to be <=?(-?[\d.]+)$/, 'must be at most $1')
    .replace(
      /^Too (?:small|big): expected \w+ to have >=?(\d+) (\w+)$/,
      (_all, count: string, what: string) => `must have at least ${counted(count, what)}`,
    )
    .replace(
      /^Too (?:small|big): expected \w+ to have <=?(\d+) (\w+)$/,
      (_all, count: string, what: string) => `must have at most ${counted(count, what)}`,
    )
    .replace(
      /^Invalid option: expected one of (.+)$/,
      (_all, options: string) => `must be one of ${options.replaceAll('|', ', ')}`,
    )
    .replace(/^Invalid input: expected (.+)$/, 'must be $1')
    .replace(/^Invalid base64-encoded string$/, 'must be base64, such as eyJhIjoxfQ==')
    .replace(/^Invalid key in record$/, 'this name is empty or too long')
}

/** The library always writes plurals. */
function counted(count: string, what: string): string {
  return `${count} ${count === '1' ? what.replace(/s$/, '') : what}`
}
