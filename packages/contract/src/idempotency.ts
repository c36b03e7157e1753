import { z } from 'zod'
import { DotPath } from './condition.ts'
import { LIMITS } from './limits.ts'

/** Where an endpoint finds the key by which a provider's repeats are known. */

const HeaderName = z
  .string('The header is the name of a request header, such as X-GitHub-Delivery.')
  .max(LIMITS.idempotencyHeaderCharsMax, `A header name has at most ${LIMITS.idempotencyHeaderCharsMax} characters.`)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'The header is the name of a request header, such as X-GitHub-Delivery.')

export const Idempotency = z
  .union(
    [z.strictObject({ header: HeaderName }), z.strictObject({ path: DotPath })],
    'The idempotency is {"header": "X-GitHub-Delivery"}, {"path": "id"} with a dot path into the payload, or null.',
  )
  .nullable()
  .describe(
    'Takes the key of an event from a header or from the payload, as providers number their events: a repeat within 7 days is answered 200 with the ' +
      'first answer and `duplicate: true`, whatever its body. A request without the header, or without text or a number at the path, is treated as if ' +
      'this were null. null: only the header Idempotency-Key counts.',
  )
export type Idempotency = z.infer<typeof Idempotency>
