import { decodeId, LIMITS } from '@postroad/contract'
import { z } from 'zod'
import type { NamedProject } from '../domain/people/access.ts'
import { withPlainSteps } from '../domain/automation/plain-steps.ts'
import { parseJson } from '../domain/json/json-text.ts'
import { setOwn } from '../domain/json/own-property.ts'
import { withPlainNumbers } from '../domain/json/plain-numbers.ts'
import { refuse } from '../domain/refusal.ts'
import { sentenceOf, type Where } from '../resources/input-sentence.ts'
import type { Requested } from './requested.ts'

/** The schemas of a route, all of which are object schemas. */
type Asked = {
  readonly params?: z.ZodType | undefined
  readonly query?: z.ZodType | undefined
  readonly body?: z.ZodType | undefined
}

/**
 * The members of path, query and body in one parsed object. An invalid id in the path gives the same response as a missing one. Unknown
 * query parameters are ignored; unknown body members are refused by name, even on a route without a body.
 */
export function readInput(route: Asked, request: Requested): object {
  const params = route.params === undefined ? {} : parsed(route.params, { value: request.params, where: 'path' })
  const query = route.query === undefined ? {} : parsed(route.query, { value: request.query, where: 'query' })
  const body = parsed(route.body ?? NO_BODY, { value: parseJsonBody(request), where: 'body' })
  return { ...params, ...query, ...body }
}

/** No body, or an object without members, which some clients send with every POST. */
const NO_BODY = z.strictObject({})

/** Members with the data of payloads and records, in which each number stays as it was written. */
const OF_PAYLOADS: readonly string[] = ['config', 'data', 'mappings', 'payload', 'payloads']

/** The steps of a workflow, some of which contain payloads. */
const STEPS = 'steps'

/** The JSON of a request's body; an empty body is an empty object. */
function parseJsonBody(request: Requested): unknown {
  if (typeof request.body !== 'string' || request.body.trim() === '') return {}
  const read = parseJson(request.body, LIMITS.adminJsonDepthMax)
  if (!read.ok) throw refuse('invalid_request', `${read.error}${whatElseCame(request)}`)
  const body = withPlainNumbers(read.value, [...OF_PAYLOADS, STEPS])
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, STEPS))
    setOwn(body, STEPS, withPlainSteps(Reflect.get(body, STEPS)))
  return body
}

/** The reason why the text is not JSON, if the headers of the request give one. */
function whatElseCame({ headers }: Requested): string {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity')
    return ' This API does not support Content-Encoding; send the body uncompressed.'
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
  return /^(?:multipart\/[\w-]+|application\/x-www-form-urlencoded|(?:application|text)\/xml)$/.test(type)
    ? ` Its Content-Type is ${type}; send JSON.`
    : ''
}

function parsed(schema: z.ZodType, from: { value: unknown; where: Where }): object {
  const result = schema.safeParse(from.value)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- params, query and body are object schemas by the type of Route
  if (result.success) return result.data as object
  if (from.where === 'path') throw refuse('not_found')
  throw refuse('invalid_request', sentenceOf(result.error.issues, from))
}

/** The project that the path of a request names. */
export function projectOf(request: Requested): NamedProject {
  const { params } = request
  if (typeof params !== 'object' || params === null || !('project_id' in params)) return { kind: 'default' }
  const id = decodeId('project', String(params.project_id))
  return id === undefined ? { kind: 'unknown' } : { kind: 'named', id }
}
