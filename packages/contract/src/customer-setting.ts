import { z } from 'zod'
import { DotPath } from './condition.ts'
import { headerName, heldHeaderName } from './header-name.ts'

/** The place where an endpoint, an ingest key or a source finds the customer of an event. */

const EXAMPLE = 'Service-Customer'

const customerPlace = (header: z.ZodString) =>
  z
    .union([z.strictObject({ header }), z.strictObject({ path: DotPath })], {
      error: ({ input }) =>
        typeof input === 'object' &&
        input !== null &&
        'header' in input &&
        header.safeParse(input.header).error !== undefined
          ? header.safeParse(input.header).error?.issues[0]?.message
          : 'The customer setting is {"header": "Service-Customer"}, {"path": "customer.id"} with a dot path into the payload, or null.',
    })
    .nullable()
    .describe(
      'The place of the customer_id of the event, in a header or in the payload. Postroad also delivers the event to the destinations of this customer, in every portal of the project that exposes the dataset. ' +
        'An event without text or a number there names no customer. null: no event names one.',
    )

/** The setting as stored and shown. */
export const CustomerPlace = customerPlace(heldHeaderName(EXAMPLE))
/** The setting in a request. */
export const CustomerPlaceSetting = customerPlace(headerName(EXAMPLE))
export type CustomerPlace = z.infer<typeof CustomerPlace>

/** Events without a sender have no headers. */
export const CustomerPath = z
  .union([z.strictObject({ path: DotPath }), z.null()], {
    error: () =>
      'The customer setting is {"path": "customer.id"} with a dot path into the payload, or null. Events that no sender sent have no headers.',
  })
  .describe(
    'The place of the customer_id in the payload. Postroad also delivers the event to the destinations of this customer, in every portal of the project that exposes the dataset. ' +
      'An event without text or a number there names no customer. null: no event names one.',
  )
export type CustomerPath = z.infer<typeof CustomerPath>
