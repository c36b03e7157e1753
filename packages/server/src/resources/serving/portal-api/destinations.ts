import {
  LIMITS,
  type PortalInput,
  type PortalOutput,
  type PortalRoutes,
  type RouteInput,
  type Routes,
} from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import {
  changeDestination,
  checkChangeOf,
  checkCustomerUrl,
  checkNewDestination,
  destinations,
  findDestination,
  insertNewDestination,
  listDestinations,
  presentDestination,
  removeDestination,
} from '../../delivery/destinations/index.ts'
import { findCustomer } from '../portal-customers/index.ts'
import { rangeAt, sumDestinations } from '../../workspace/rollups/index.ts'
import type { Guest, PortalCtx } from './access.ts'
import { countOwnedDestinations } from './queries.ts'

type Verb<Name extends keyof PortalRoutes> = (
  ctx: PortalCtx,
  input: PortalInput<PortalRoutes[Name]>,
) => Promise<PortalOutput<PortalRoutes[Name]>>

type Row = NonNullable<Awaited<ReturnType<typeof findDestination>>>
type Shown = PortalOutput<PortalRoutes['getDestination']>['destination']

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** The destination, if the customer owns it. Another owner's destination gives the same response as a missing one. */
export async function ownDestination(ctx: PortalCtx, id: string): Promise<Row> {
  const row = await findDestination(ctx.db, { ...ctx, id })
  if (row?.owner?.id !== ctx.guest.customer) throw refuse('not_found')
  return row
}

export async function ownDestinations(ctx: PortalCtx): Promise<readonly Row[]> {
  const owner = { id: ctx.guest.customer }
  return listDestinations(ctx.db, { ...ctx, before: null, limit: LIMITS.destinationsPerCustomerMax, owner })
}

/** Rows → the shape that their customer sees. */
async function shown(ctx: PortalCtx, rows: readonly Row[]): Promise<readonly Shown[]> {
  const now = ctx.clock.now()
  const to = Math.ceil(now / MINUTE_MS) * MINUTE_MS
  const range = await rangeAt(ctx.db, { from: to - DAY_MS, to, now, bucketSeconds: 60 })
  const asked = { workspaceId: ctx.workspaceId, projectIds: [ctx.projectId], pieces: range.pieces, failing: null }
  const sums = await sumDestinations(ctx.db, { ...asked, destinationIds: rows.map(({ id }) => id) })
  const sumOf = new Map(sums.map((sum) => [sum.destination_id, sum]))
  return rows.map((row) => {
    const whole = presentDestination(ctx, row)
    const { succeeded = 0, failed = 0 } = sumOf.get(row.id) ?? {}
    return {
      id: whole.id,
      url: whole.url,
      description: whole.description,
      event_types: whole.datasets,
      enabled: whole.enabled,
      disabled_reason: whole.disabled_reason,
      disabled_at: whole.disabled_at,
      previous_secret_expires_at: whole.previous_secret_expires_at,
      public_keys: whole.public_keys,
      last_24_hours: { succeeded, failed },
      created_at: whole.created_at,
      updated_at: whole.updated_at,
    }
  })
}

async function shownOne(ctx: PortalCtx, id: string): Promise<Shown> {
  const [one] = await shown(ctx, [await ownDestination(ctx, id)])
  if (one === undefined) throw refuse('not_found')
  return one
}

function checkEventTypes({ event_types: exposed }: Guest, asked: readonly string[] | null | undefined): void {
  if (exposed === null || asked === null || asked === undefined) return
  const unknown = asked.find((name) => !exposed.includes(name))
  if (unknown === undefined) return
  throw refuse(
    'event_type_not_exposed',
    `The portal does not expose "${unknown}". GET /portal/api/event-types lists those that it does.`,
  )
}

export const list: Verb<'listDestinations'> = async (ctx) => ({
  destinations: [...(await shown(ctx, await ownDestinations(ctx)))],
})

/** The settings that a customer cannot choose. */
const DEFAULTS: Omit<RouteInput<Routes['destinations']['create']>, 'name' | 'url' | 'enabled' | 'datasets'> = {
  config: { kind: 'http' },
  conditions: [],
  headers: {},
  retry: { schedule_seconds: null },
  timeout_ms: LIMITS.deliveryTimeoutMsDefault,
  max_in_flight: LIMITS.maxInFlightDefault,
  rate_limit: null,
  ordering: 'none',
  signing: { header: 'both' },
  auth: { kind: 'none' },
  tls: null,
  proxy: null,
  payload_template: null,
  transform_id: null,
  body: 'envelope',
  forward_headers: [],
}

export const create: Verb<'createDestination'> = async (ctx, { url, description, event_types, enabled }) => {
  checkCustomerUrl(ctx, url)
  checkEventTypes(ctx.guest, event_types)
  const id = ctx.uuid()
  const name = nameOf(ctx.guest, { url, id })
  const input = { ...DEFAULTS, name, url, enabled, datasets: event_types }
  await checkNewDestination(ctx, input)
  // oxlint-disable-next-line house/verb-guards -- insertNewDestination writes the audit row
  const signing_secret = await inTransaction(ctx, async (tx) => {
    const { workspaceId, projectId } = tx
    const at = { workspaceId, projectId, portalId: ctx.guest.portal_id, now: new Date(tx.clock.now()) }
    const customer = await findCustomer(tx.db, { ...at, id: ctx.guest.customer, lock: true })
    if (customer === undefined) throw refuse('portal_token_required')
    if (customer.destination_count >= LIMITS.destinationsPerCustomerMax)
      throw refuse('portal_destination_limit_reached')
    if ((await countOwnedDestinations(tx.db, at)) >= LIMITS.customerDestinationsPerProjectMax)
      throw refuse('portal_destination_limit_reached', FULL)
    const owner = { id: customer.id, description }
    return (await insertNewDestination(tx, { id, input, owner })).signing_secret
  })
  return { destination: await shownOne(ctx, id), signing_secret }
}

const FULL =
  'The portals of this company have the maximum number of destinations. Ask the company to delete some that are no longer needed.'

/** A name for the lists of the project, in which names are unique. The customer does not see it. */
function nameOf({ customer_id }: Guest, { url, id }: { url: string; id: string }): string {
  return `${customer_id.slice(0, 60)} ${URL.parse(url)?.hostname.slice(0, 45) ?? ''} ${id.slice(-8)}`.trim()
}

export const get: Verb<'getDestination'> = async (ctx, { id }) => ({ destination: await shownOne(ctx, id) })

export const update: Verb<'updateDestination'> = async (ctx, { id, event_types, ...given }) => {
  const held = await ownDestination(ctx, id)
  checkEventTypes(ctx.guest, event_types)
  if (given.url !== undefined) checkCustomerUrl(ctx, given.url)
  const change = { id, ...given, ...(event_types === undefined ? {} : { datasets: event_types }) }
  await checkChangeOf(ctx, held, change)
  await changeDestination(ctx, change)
  return { destination: await shownOne(ctx, id) }
}

export const remove: Verb<'removeDestination'> = async (ctx, { id }) => {
  await ownDestination(ctx, id)
  return removeDestination(ctx, id)
}

export const test: Verb<'testDestination'> = async (ctx, { id }) => {
  await ownDestination(ctx, id)
  const { attempt } = await destinations.test(ctx, { id })
  return { attempt }
}

export const rotateSecret: Verb<'rotateSecret'> = async (ctx, { id, ...asked }) => {
  await ownDestination(ctx, id)
  const { signing_secret } = await destinations.rotateSecret(ctx, { id, ...asked })
  return { destination: await shownOne(ctx, id), signing_secret }
}
