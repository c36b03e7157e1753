import { z } from 'zod'
import { ERROR_CODES } from './error-codes.ts'
import { HeldBy } from './held-by.ts'
import { idInput, idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { ListQuery, listOf, Text, Timestamp } from './list.ts'
import { PortalBranding, PortalSubscription } from './portal-settings.ts'
import { Attempt, DELIVERY_STATES, PAUSE_REASONS } from './routes/delivery/deliveries.ts'
import { Destination } from './routes/delivery/destinations.ts'
import { EndOverlap, OverlapHours } from './rotation.ts'
import { SentBody } from './sent-request.ts'

/** The customer portal API, `/portal/api/*` (contract part 4): every request is for one portal and one customer. */

type Fields = z.ZodObject | undefined

/** One route of the portal API as a value. The server, the OpenAPI document and the isolation tests are derived from it. */
export type PortalRoute<
  Params extends Fields = Fields,
  Query extends Fields = Fields,
  Body extends Fields = Fields,
  Output extends z.ZodType = z.ZodType,
> = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Relative to `/portal/api/`. */
  readonly path: string
  readonly summary: string
  readonly description: string
  /** `token`: takes the token alone. `nobody`: anyone may call it. `customer`: a token or a session. */
  readonly caller: 'customer' | 'token' | 'nobody'
  /** While the workspace is suspended: a change is refused with 403 (contract part 1). */
  readonly whileSuspended: 'allowed' | 'refused'
  readonly status: 200 | 201
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly output: Output
}

function route<
  const Params extends Fields = undefined,
  const Query extends Fields = undefined,
  const Body extends Fields = undefined,
  const Output extends z.ZodType = z.ZodType,
>(of: PortalRoute<Params, Query, Body, Output>): PortalRoute<Params, Query, Body, Output> {
  return of
}

const READS = { method: 'GET', caller: 'customer', whileSuspended: 'allowed', status: 200 } as const
const CHANGES = { caller: 'customer', whileSuspended: 'refused', status: 200 } as const

const Ok = z.object({ ok: z.literal(true) })

export const ShownPortal = z.object({
  id: idOutput('portal'),
  name: z.string(),
  slug: z.string(),
  branding: PortalBranding,
})
export const PublicPortal = ShownPortal.omit({ slug: true })
export const ShownCustomer = z.object({
  id: idOutput('customer'),
  customer_id: z.string().describe('The id that the company gave the customer.'),
  name: z.string().nullable(),
})

export const PortalAccess = z.object({
  portal: ShownPortal,
  customer: ShownCustomer,
  event_types: z.array(z.string()),
  expires_at: Timestamp,
  suspended: z.boolean().describe('true: changes are refused with 403 `workspace_suspended`; reads keep working.'),
  destinations_max: z.int(),
})
export const PortalEventType = z.object({ name: z.string(), description: z.string().nullable() })

export const PortalDestination = z.object({
  id: idOutput('destination'),
  url: z.string(),
  description: z.string().nullable(),
  event_types: z.array(z.string()).nullable().describe('null: all that the portal exposes.'),
  enabled: z.boolean(),
  disabled_reason: Destination.shape.disabled_reason,
  disabled_at: Timestamp.nullable(),
  previous_secret_expires_at: Destination.shape.previous_secret_expires_at,
  public_keys: Destination.shape.public_keys,
  last_24_hours: z
    .object({ succeeded: z.int(), failed: z.int() })
    .describe('The attempts of the last 24 hours. The counts are some seconds behind.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const PortalDelivery = z.object({
  id: idOutput('delivery'),
  event_id: idOutput('record').describe('The id that the envelope and Service-Event-Id have.'),
  dataset: z.string(),
  destination_id: idOutput('destination'),
  status: z.enum(DELIVERY_STATES),
  pause_reason: z.enum(PAUSE_REASONS).nullable(),
  attempts: z.int(),
  response_status: z.int().nullable(),
  error_code: z.enum(ERROR_CODES).nullable(),
  created_at: Timestamp,
  next_attempt_at: Timestamp.nullable(),
  held_by: HeldBy.nullable(),
})

const PortalUrl = Text.min(1).max(2_048).describe('An https URL on the public internet.')
const Description = Text.trim().max(LIMITS.nameCharsMax).nullable()
const atDestination = z.object({ id: idInput('destination') })
const atDelivery = z.object({ id: idInput('delivery') })
const oneDestination = z.object({ destination: PortalDestination })
const withSecret = oneDestination.extend({
  signing_secret: z.string().describe('The secret that deliveries are signed with. It is shown only once.'),
})

export const portalRoutes = {
  branding: route({
    ...READS,
    path: 'portals/{id}/branding',
    caller: 'nobody',
    summary: 'Get the branding of a portal',
    description: 'The branding that the portal page shows before sign-in and after the session ends.',
    params: z.object({ id: idInput('portal') }),
    output: z.object({ portal: PublicPortal, enabled: z.boolean() }),
  }),
  openSession: route({
    method: 'POST',
    path: 'session',
    caller: 'token',
    whileSuspended: 'allowed',
    status: 200,
    summary: 'Exchange a portal token for a session',
    description:
      'Sets the cookie __Host-service_portal, which is valid for 8 hours or until the token expires, whichever is sooner. Send the token as Authorization: Bearer.',
    output: z.object({ portal: ShownPortal, customer: ShownCustomer, expires_at: Timestamp }),
  }),
  closeSession: route({
    method: 'DELETE',
    path: 'session',
    caller: 'nobody',
    whileSuspended: 'allowed',
    status: 200,
    summary: 'Leave the portal',
    description: 'Deletes the cookie of the session. The token stays valid.',
    output: Ok,
  }),
  me: route({
    ...READS,
    path: 'me',
    summary: 'Get the portal and the customer',
    description: 'The portal, the customer, the event types that the portal exposes, and when the access ends.',
    output: PortalAccess,
  }),
  eventTypes: route({
    ...READS,
    path: 'event-types',
    summary: 'List event types',
    description: 'The datasets that the portal exposes, by name.',
    output: z.object({ event_types: z.array(PortalEventType) }),
  }),
  listDestinations: route({
    ...READS,
    path: 'destinations',
    summary: 'List your destinations',
    description: `All destinations of the customer, newest first. A customer has at most ${LIMITS.destinationsPerCustomerMax}.`,
    output: z.object({ destinations: z.array(PortalDestination) }),
  }),
  createDestination: route({
    ...CHANGES,
    method: 'POST',
    path: 'destinations',
    status: 201,
    summary: 'Create a destination',
    description:
      'Events of the customer are signed and delivered to this URL from now on. https on the public internet only. The signing secret is returned once.',
    body: z.strictObject({
      url: PortalUrl,
      description: Description.default(null),
      event_types: PortalSubscription.default(null),
      enabled: z.boolean().default(true),
    }),
    output: withSecret,
  }),
  getDestination: route({
    ...READS,
    path: 'destinations/{id}',
    summary: 'Get a destination',
    description: 'One destination of the customer.',
    params: atDestination,
    output: oneDestination,
  }),
  updateDestination: route({
    ...CHANGES,
    method: 'PUT',
    path: 'destinations/{id}',
    summary: 'Change a destination',
    description:
      'Updates only the fields that you send. Turning the destination off pauses its outstanding deliveries; turning it on sends them.',
    params: atDestination,
    body: z.strictObject({
      url: PortalUrl.optional(),
      description: Description.optional(),
      event_types: PortalSubscription.optional(),
      enabled: z.boolean().optional(),
    }),
    output: oneDestination,
  }),
  removeDestination: route({
    ...CHANGES,
    method: 'DELETE',
    path: 'destinations/{id}',
    summary: 'Delete a destination',
    description: 'Deletes the destination and cancels its outstanding deliveries.',
    params: atDestination,
    output: Ok,
  }),
  testDestination: route({
    ...CHANGES,
    method: 'POST',
    path: 'destinations/{id}/test',
    summary: 'Send a test to a destination',
    description:
      'Sends a sample now, signed like a delivery, and returns the response. A test is not a delivery: Postroad does not store, retry or count it.',
    params: atDestination,
    output: z.object({
      attempt: Attempt.omit({
        delivery_id: true,
        number: true,
        trigger: true,
        next_attempt_at: true,
        request: true,
      }).extend({ outcome: z.enum(['succeeded', 'failed']), event_id: idOutput('record') }),
    }),
  }),
  rotateSecret: route({
    ...CHANGES,
    method: 'POST',
    path: 'destinations/{id}/rotate-secret',
    summary: 'Replace the signing secret of a destination',
    description:
      'Creates a new secret and returns it once. For overlap_hours every delivery is signed with both secrets, so you can update the receiver at any time. ' +
      'A second rotation within the overlap is refused with 409 `overlap_running`, unless `end_overlap` is true.',
    params: atDestination,
    body: z.strictObject({ overlap_hours: OverlapHours, end_overlap: EndOverlap }),
    output: withSecret,
  }),
  listDeliveries: route({
    ...READS,
    path: 'deliveries',
    summary: 'List deliveries',
    description: 'The deliveries to the destinations of the customer, newest first.',
    query: ListQuery.extend({
      status: z.enum(DELIVERY_STATES).optional().describe('Only deliveries with this status.'),
      destination_id: idInput('destination').optional().describe('Only deliveries to this destination.'),
    }),
    output: listOf('deliveries', PortalDelivery),
  }),
  getDelivery: route({
    ...READS,
    path: 'deliveries/{id}',
    summary: 'Get a delivery',
    description: 'One delivery to a destination of the customer, with all its attempts in order.',
    params: atDelivery,
    output: z.object({ delivery: PortalDelivery, attempts: z.array(Attempt) }),
  }),
  listAttempts: route({
    ...READS,
    path: 'deliveries/{id}/attempts',
    summary: 'List the attempts of a delivery',
    description: 'All attempts of a delivery in order, with the response to each.',
    params: atDelivery,
    output: z.object({ attempts: z.array(Attempt) }),
  }),
  getAttempt: route({
    ...READS,
    path: 'attempts/{id}',
    summary: 'Get an attempt',
    description: 'One attempt with the request as it was sent, its body, and the response.',
    params: z.object({ id: idInput('attempt') }),
    output: z.object({ attempt: Attempt, body: SentBody.nullable() }),
  }),
  retryDelivery: route({
    ...CHANGES,
    method: 'POST',
    path: 'deliveries/{id}/retry',
    summary: 'Retry a delivery now',
    description:
      'A delivery that waits for its next attempt is sent now. A delivery that has ended is sent again, with the same body and event id. A delivery that is paused or being sent is refused with 409.',
    params: atDelivery,
    output: z.object({ delivery: PortalDelivery }),
  }),
} as const
export type PortalRoutes = typeof portalRoutes

type Parsed<F> = F extends z.ZodType ? z.output<F> : unknown
/** The input of a verb: the parsed members of path, query and body in one object. */
export type PortalInput<R> =
  R extends PortalRoute<infer P, infer Q, infer B> ? Parsed<P> & Parsed<Q> & Parsed<B> : never
/** The output of a verb. */
export type PortalOutput<R> = R extends PortalRoute<Fields, Fields, Fields, infer O> ? z.input<O> : never
