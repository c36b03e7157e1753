import { z } from 'zod'
import { DotPath } from './condition.ts'
import { headerName, heldHeaderName } from './header-name.ts'

/** The place where an endpoint finds the key that identifies repeats of a provider's event. */

const EXAMPLE = 'X-GitHub-Delivery'

const idempotency = (header: z.ZodString) =>
  z
    .union([z.strictObject({ header }), z.strictObject({ path: DotPath })], {
      error: ({ input }) =>
        typeof input === 'object' &&
        input !== null &&
        'header' in input &&
        header.safeParse(input.header).error !== undefined
          ? header.safeParse(input.header).error?.issues[0]?.message
          : 'The idempotency setting is {"header": "X-GitHub-Delivery"}, {"path": "id"} with a dot path into the payload, or null.',
    })
    .nullable()
    .describe(
      'The place of the idempotency key, in a header or in the payload. Postroad answers a repeat with the same key and the same body within 7 days with ' +
        '200, the first response and `duplicate: true`. The same key with another body is a separate event. A request without the header, or without text or a number at the path, is treated as if ' +
        'this setting were null. null: only the header Idempotency-Key counts.',
    )

/** The setting as stored and shown. */
export const Idempotency = idempotency(heldHeaderName(EXAMPLE))
/** The setting in a request. */
export const IdempotencySetting = idempotency(headerName(EXAMPLE))
export type Idempotency = z.infer<typeof Idempotency>
