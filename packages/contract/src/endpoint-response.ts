import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { storable } from './list.ts'

/** The response of an endpoint to the events that it accepts, for senders that take no 201 or that read the body. */

export const RESPONSE_STATUSES = [200, 201, 202, 204] as const

/** A media type with parameters (RFC 9110). It has no control characters, so it cannot start another header. */
const MEDIA_TYPE =
  /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+(?: ?; ?[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[ !#-[\]-~]*"))*$/

const ContentType = z
  .string('content_type is text such as application/json, or null.')
  .max(LIMITS.responseContentTypeCharsMax, `has at most ${LIMITS.responseContentTypeCharsMax} characters`)
  .regex(MEDIA_TYPE, 'must be one media type, such as application/json or text/xml; charset=utf-8')

const Body = storable(z.string('The body of the response is text; leave it out to send none.')).refine(
  (text) => new TextEncoder().encode(text).length <= LIMITS.responseBodyBytesMax,
  `has at most ${LIMITS.responseBodyBytesMax.toLocaleString('en')} bytes in UTF-8`,
)

const statusError = `must be one of ${RESPONSE_STATUSES.join(', ')}`
const typeMeaning = 'The header Content-Type. null: the response has none.'
const bodyMeaning = 'The text that the sender gets, in UTF-8. Empty: the response has no body.'
const meaning =
  'The response to an event that the endpoint accepts, for senders that expect another one than 201. A duplicate gets the same response, and refusals are never changed. ' +
  'A request with the header `Prefer: return=representation` gets the response of the contract all the same. null: that response, which is 201, and 200 for a duplicate.'

/** The setting as stored and shown. */
export const EndpointResponse = z
  .object({
    status: z.literal(RESPONSE_STATUSES),
    content_type: z.string().nullable().describe(typeMeaning),
    body: z.string().describe(bodyMeaning),
  })
  .nullable()
  .describe(meaning)
export type EndpointResponse = z.infer<typeof EndpointResponse>

/** The setting in a request. */
export const EndpointResponseSetting = z
  .strictObject({
    status: z.literal(RESPONSE_STATUSES, statusError),
    content_type: ContentType.nullable().default(null).describe(typeMeaning),
    body: Body.default('').describe(bodyMeaning),
  })
  .refine(({ status, body }) => status !== 204 || body === '', {
    path: ['body'],
    error: 'must be empty with the status 204, because such a response has no body',
  })
  .refine(({ content_type, body }) => content_type !== null || body === '', {
    path: ['content_type'],
    error: 'is missing: a response with a body names its type, such as application/json',
  })
  .nullable()
  .describe(meaning)
