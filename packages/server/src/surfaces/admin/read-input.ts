import { decodeId, LIMITS } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { NamedProject } from '../../domain/access.ts'
import { isRawNumber, parseJson } from '../../domain/json-text.ts'
import { setOwn } from '../../domain/own-property.ts'
import { refuse } from '../../domain/refusal.ts'

/** The schemas of a route, all of them of objects. */
type Asked = { readonly params?: z.ZodType | undefined; readonly query?: z.ZodType | undefined; readonly body?: z.ZodType | undefined }

/**
 * Path, query and body members in one parsed object. An id in the path that is no id answers like one that is not there;
 * unknown query parameters are ignored, unknown body members are refused by name.
 */
export function readInput(route: Asked, request: FastifyRequest): object {
  const params = route.params === undefined ? {} : parsed(route.params, { value: request.params, where: 'path' })
  const query = route.query === undefined ? {} : parsed(route.query, { value: request.query, where: 'query' })
  const body = route.body === undefined ? {} : parsed(route.body, { value: parseJsonBody(request), where: 'body' })
  return { ...params, ...query, ...body }
}

/** Members that hold data of payloads and records, so that each number in them stays as it was written. */
const OF_PAYLOADS: readonly string[] = ['mappings', 'payloads']

/** The JSON of a request's body; an empty body is an empty object. */
function parseJsonBody(request: FastifyRequest): unknown {
  if (typeof request.body !== 'string' || request.body.trim() === '') return {}
  const read = parseJson(request.body, LIMITS.adminJsonDepthMax)
  if (!read.ok) throw refuse('invalid_request', read.error)
  return withPlainNumbers(read.value, OF_PAYLOADS)
}

/** A JSON value with ordinary numbers, as a schema expects them, but for the members that are named. */
function withPlainNumbers(value: unknown, but: readonly string[] = []): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON)
  if (typeof value !== 'object' || value === null) return value
  for (const [key, member] of Object.entries(value)) if (typeof member === 'object' && !but.includes(key)) setOwn(value, key, withPlainNumbers(member))
  return value
}

function parsed(schema: z.ZodType, from: { value: unknown; where: 'path' | 'query' | 'body' }): object {
  const result = schema.safeParse(from.value)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- params, query and body are object schemas by the type of Route
  if (result.success) return result.data as object
  if (from.where === 'path') throw refuse('not_found')
  throw refuse('invalid_request', sentenceOf(result.error.issues, from.where))
}

/** The deepest issue says most: a union reports what each of its members disliked. */
function sentenceOf(issues: readonly z.core.$ZodIssue[], where: string): string {
  const [issue] = issues
  if (issue === undefined) return `The ${where} is not valid.`
  const path = issue.path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('').replace(/^\./, '')
  const place = path === '' ? where : path
  if (issue.code === 'unrecognized_keys' && issue.message.startsWith('Unrecognized key')) {
    return `${place}: "${issue.keys.join('", "')}" is not a member of this request; remove it.`
  }
  return `${place}: ${demandOf(issue.message).replace(/\.?$/, '.')}`
}

/** The library's own words as what to do; a schema's own words stay. */
function demandOf(message: string): string {
  return message
    .replace(/^Invalid input: expected (.+), received undefined$/, 'is missing; send a value of type $1')
    .replace(/^Invalid input: expected (.+), received (.+)$/, 'must be of type $1, not $2')
    .replace(/^Too (?:small|big): expected \w+ to be >=?(-?[\d.]+)$/, 'must be at least $1')
    .replace(/^Too (?:small|big): expected \w+ to be <=?(-?[\d.]+)$/, 'must be at most $1')
    .replace(/^Too (?:small|big): expected \w+ to have >=?(\d+) (\w+)$/, 'must have at least $1 $2')
    .replace(/^Too (?:small|big): expected \w+ to have <=?(\d+) (\w+)$/, 'must have at most $1 $2')
    .replace(/^Invalid option: expected one of (.+)$/, (_all, options: string) => `must be one of ${options.replaceAll('|', ', ')}`)
    .replace(/^Invalid input: expected (.+)$/, 'must be $1')
}

/** The project that the path of a request names. */
export function projectOf(request: FastifyRequest): NamedProject {
  const { params } = request
  if (typeof params !== 'object' || params === null || !('project_id' in params)) return { kind: 'default' }
  const id = decodeId('project', String(params.project_id))
  return id === undefined ? { kind: 'unknown' } : { kind: 'named', id }
}
