import { decodeId, LIMITS } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { NamedProject } from '../../domain/people/access.ts'
import { isRawNumber, parseJson } from '../../domain/json/json-text.ts'
import { setOwn } from '../../domain/json/own-property.ts'
import { refuse } from '../../domain/refusal.ts'
import { sentenceOf, type Where } from './input-sentence.ts'

/** The schemas of a route, all of them of objects. */
type Asked = {
  readonly params?: z.ZodType | undefined
  readonly query?: z.ZodType | undefined
  readonly body?: z.ZodType | undefined
}

/**
 * Path, query and body members in one parsed object. An id in the path that is no id answers like one that is not there;
 * unknown query parameters are ignored, unknown body members are refused by name, also where no body is asked for.
 */
export function readInput(route: Asked, request: FastifyRequest): object {
  const params = route.params === undefined ? {} : parsed(route.params, { value: request.params, where: 'path' })
  const query = route.query === undefined ? {} : parsed(route.query, { value: request.query, where: 'query' })
  const body = parsed(route.body ?? NO_BODY, { value: parseJsonBody(request), where: 'body' })
  return { ...params, ...query, ...body }
}

/** Nothing, or an object without members, which some clients send with every POST. */
const NO_BODY = z.strictObject({})

/** Members that hold data of payloads and records, so that each number in them stays as it was written. */
const OF_PAYLOADS: readonly string[] = ['mappings', 'payloads']

/** The JSON of a request's body; an empty body is an empty object. */
function parseJsonBody(request: FastifyRequest): unknown {
  if (typeof request.body !== 'string' || request.body.trim() === '') return {}
  const read = parseJson(request.body, LIMITS.adminJsonDepthMax)
  if (!read.ok) throw refuse('invalid_request', `${read.error}${whatElseCame(request)}`)
  return withPlainNumbers(read.value, OF_PAYLOADS)
}

/** Why the text is no JSON, when the request itself says what it is. */
function whatElseCame({ headers }: FastifyRequest): string {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return ' This API takes no Content-Encoding; send the body as it is.'
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^(?:multipart\/[\w-]+|application\/x-www-form-urlencoded|(?:application|text)\/xml)$/.test(type)
    ? ` It came as ${type}; send JSON.`
    : ''
}

/** A JSON value with ordinary numbers, as a schema expects them, but for the members that are named. */
function withPlainNumbers(value: unknown, but: readonly string[] = []): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON)
  if (typeof value !== 'object' || value === null) return value
  for (const [key, member] of Object.entries(value))
    if (typeof member === 'object' && !but.includes(key)) setOwn(value, key, withPlainNumbers(member))
  return value
}

function parsed(schema: z.ZodType, from: { value: unknown; where: Where }): object {
  const result = schema.safeParse(from.value)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- params, query and body are object schemas by the type of Route
  if (result.success) return result.data as object
  if (from.where === 'path') throw refuse('not_found')
  throw refuse('invalid_request', sentenceOf(result.error.issues, from))
}

/** The project that the path of a request names. */
export function projectOf(request: FastifyRequest): NamedProject {
  const { params } = request
  if (typeof params !== 'object' || params === null || !('project_id' in params)) return { kind: 'default' }
  const id = decodeId('project', String(params.project_id))
  return id === undefined ? { kind: 'unknown' } : { kind: 'named', id }
}
