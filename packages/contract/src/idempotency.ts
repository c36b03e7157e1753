import { z } from 'zod'
import { DotPath } from './condition.ts'
import { headerName, heldHeaderName } from './header-name.ts'

/** Where an endpoint finds the key by which a provider's repeats are known. */

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
          : 'The idempotency is {"header": "X-GitHub-Delivery"}, {"path": "id"} with a dot path into the payload, or null.',
    })
    .nullable()
    .describe(
      'Takes the key of an event from a header or from the payload, as providers number their events: a repeat within 7 days is answered 200 with the ' +
        'first answer and `duplicate: true`, whatever its body. A request without the header, or without text or a number at the path, is treated as if ' +
        'this were null. null: only the header Idempotency-Key counts.',
    )

/** As it is held and shown. */
export const Idempotency = idempotency(heldHeaderName(EXAMPLE))
/** As it is configured. */
export const IdempotencySetting = idempotency(headerName(EXAMPLE))
export type Idempotency = z.infer<typeof Idempotency>
