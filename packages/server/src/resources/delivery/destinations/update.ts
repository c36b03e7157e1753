import { encodeId, LIMITS, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { bodySettings } from '../../../domain/delivery/delivery-body.ts'
import { defaultMaxInFlight, isEncrypted } from '../../../domain/delivery/destination-kind.ts'
import type { StoredSigning } from '../../../domain/delivery/signing-keys.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { pauseOutstanding, resumePaused } from '../deliveries/index.ts'
import { closeBreaker, keepOrder } from '../lanes/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { changedReach } from './changed-reach.ts'
import { bodyColumns, checkBatch, checkBody } from './check-body.ts'
import { checkKind, checkSameKind, checkUrl } from './check-kind.ts'
import { checkMaxInFlight } from './check-max-in-flight.ts'
import { checkPlainHttp } from './check-plain-http.ts'
import { checkTransform, lockTransformOf } from './check-transform.ts'
import { checkTemplate } from './check-template.ts'
import { checkCustomerUrl } from './customer-url.ts'
import { changedHeaders, retainedHeaders, openHeaders, sealHeaders } from './headers.ts'
import { presentDestination } from './present.ts'
import { findDestination, isDestinationNameTaken, updateDestination, type DestinationRow } from './queries.ts'
import { openReach, sealReach } from './reach.ts'
import { signingColumns } from './signing.ts'

type Input = RouteInput<Routes['destinations']['update']> & {
  /** Only the customer changes it. */ readonly description?: string | null | undefined
}

/** Changes the sent members. Off pauses the outstanding deliveries; on makes them due and closes the breaker. */
export const update: Room<'destinations'>['update'] = async (ctx, input) => {
  await checkDestinationChange(ctx, input)
  return changeDestination(ctx, input)
}

/** Runs the checks that need no lock. It resolves names, so it comes before the transaction. */
async function checkDestinationChange(ctx: Ctx, input: Input): Promise<void> {
  checkConditions(input.conditions, 'conditions')
  await checkMaxInFlightOf(ctx, input)
  const held = await heldPlaces(ctx, input)
  if (held === undefined) return
  const config = input.config ?? held.config
  checkSameKind(held.config, input.config)
  checkUrl(config, input.url ?? held.url, ctx.validateUrl)
  // A change of the encryption changes the meaning of the same URL.
  const isSame = input.config === undefined || isEncrypted(config, held.url) === isEncrypted(held.config, held.url)
  await checkPlainHttp(ctx, {
    config,
    sent: { ...input, url: input.url ?? held.url },
    held: isSame ? held.urls : held.urls.filter((url) => url !== held.url),
  })
}

async function checkMaxInFlightOf(ctx: Ctx, { id, max_in_flight: asked }: Input): Promise<void> {
  if (asked === undefined || asked <= LIMITS.maxInFlightDefault) return
  const held = await findDestination(ctx.db, { ...ctx, id })
  if (held === undefined) throw refuse('not_found')
  await checkMaxInFlight(ctx, { asked, accepted: Math.max(held.max_in_flight, defaultMaxInFlight(held.config)) })
}

/** Refuses a change that cannot be made to this row, and changes nothing. */
export async function checkChangeOf(ctx: Ctx, held: DestinationRow, input: Input): Promise<void> {
  await checkDestinationChange(ctx, input)
  changed(ctx, held, input)
}

/** Stores an update that the checks have accepted, alone or as a part of a larger transaction. */
export function changeDestination(ctx: Ctx, input: Input): ReturnType<Room<'destinations'>['update']> {
  return inTransaction(ctx, async (tx) => {
    const held = await findDestination(tx.db, { ...tx, id: input.id, lock: true })
    if (held === undefined) throw refuse('not_found')
    checkUrlOf(tx, held, input)
    const renamed = input.name !== undefined && input.name !== held.name
    if (renamed && (await isDestinationNameTaken(tx.db, { ...tx, name: input.name ?? '' }))) throw refuse('name_taken')
    if (input.transform_id !== undefined) await lockTransformOf(tx, input.transform_id)
    if (input.enabled === true && !held.enabled)
      await closeBreaker(tx.db, { workspaceId: tx.workspaceId, destinationId: held.id })
    if (input.ordering !== undefined && input.ordering !== 'none')
      await keepOrder(tx.db, { workspaceId: tx.workspaceId, destinationId: held.id })
    const row = await updateDestination(tx.db, { ...tx, ...changed(tx, held, input), now: new Date(tx.clock.now()) })
    if (row === undefined) throw refuse('not_found')
    await moveDeliveries(tx, held, row)
    const members = Object.keys(input).filter((member) => member !== 'id')
    await audit(tx, {
      action: 'update_destination',
      target: encodeId('destination', held.id),
      details: { changed: members },
      change: { before: presentDestination(tx, held), after: presentDestination(tx, row) },
    })
    await configChanged(tx)
    const lane = { workspaceId: tx.workspaceId, destinationId: held.id }
    tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], disabled: !row.enabled }))
    return { destination: presentDestination(tx, row) }
  })
}

/** A destination of a customer never gets a URL that customers may not reach. */
function checkUrlOf(tx: Ctx, { owner }: DestinationRow, { url }: Input): void {
  if (owner !== null && url !== undefined) checkCustomerUrl(tx, url)
}

type HeldPlaces = Pick<DestinationRow, 'config' | 'url'> & { readonly urls: readonly string[] }

/** The saved URLs, which a form sends again with every change. They are read only if the request changes a place. */
async function heldPlaces(ctx: Ctx, { id, url, auth, config }: Input): Promise<HeldPlaces | undefined> {
  if (url === undefined && auth === undefined && config === undefined) return undefined
  const held = await findDestination(ctx.db, { ...ctx, id })
  if (held === undefined) throw refuse('not_found')
  const { auth: heldAuth } = openReach(ctx, held)
  const tokenUrls = heldAuth?.kind === 'oauth2_client_credentials' ? [heldAuth.token_url] : []
  return { config: held.config, url: held.url, urls: [held.url, ...tokenUrls] }
}

function changed(tx: Ctx, held: DestinationRow, input: Input) {
  return {
    ...held,
    name: input.name ?? held.name,
    config: input.config ?? held.config,
    url: input.url ?? held.url,
    ...switched(held, { enabled: input.enabled, now: new Date(tx.clock.now()) }),
    datasets: input.datasets === undefined ? held.datasets : input.datasets,
    conditions: input.conditions ?? held.conditions,
    schedule_seconds: input.retry === undefined ? held.schedule_seconds : input.retry.schedule_seconds,
    timeout_ms: input.timeout_ms ?? held.timeout_ms,
    max_in_flight: input.max_in_flight ?? held.max_in_flight,
    ...rateOf(input),
    ...orderOf(input),
    ...signingColumns(tx, {
      id: held.id,
      config: input.config ?? held.config,
      signing: signingOfChange(held, input),
      held: held.signing_key,
    }),
    description: input.description === undefined ? held.description : input.description,
    ...changedReachOf(tx, held, input),
  }
}

function changedReachOf(tx: Ctx, held: DestinationRow, input: Input) {
  const { url = held.url, config = held.config } = input
  const heldHeaders = openHeaders(tx, held)
  const headers = input.headers === undefined ? heldHeaders : changedHeaders(input.headers, heldHeaders)
  const reach = changedReach(tx, {
    sent: { ...input, url, config },
    headers,
    retainedHeaders: retainedHeaders(input.headers, heldHeaders),
    held: openReach(tx, held),
    heldPlace: held,
  })
  checkKind({ config, headers, auth: reach.auth, proxy: reach.proxy })
  const template = input.payload_template === undefined ? held.payload_template : input.payload_template
  checkTemplate(template, reach)
  const { body, forward_headers } = bodySettings(held)
  const formed = { body: input.body ?? body, forward_headers: input.forward_headers ?? forward_headers }
  checkBody({ config, payload_template: template, ...formed })
  checkBatch({ config, max_in_flight: input.max_in_flight ?? held.max_in_flight, ...formed })
  const transform_id = input.transform_id === undefined ? held.transform_id : input.transform_id
  checkTransform({ transform_id, config, payload_template: template, body: formed.body })
  return {
    headers: input.headers === undefined ? held.headers : sealHeaders(tx, { id: held.id, headers }),
    payload_template: template,
    ...bodyColumns(formed),
    transform_id,
    ...sealReach(tx, { id: held.id, reach, sent: input, held }),
  }
}

/** A scheme that is absent stays as it is. */
function signingOfChange({ signing: held }: DestinationRow, { signing: sent }: Input): StoredSigning {
  return sent === undefined ? held : { header: sent.header, scheme: sent.scheme ?? held.scheme }
}

function rateOf({ rate_limit }: Input) {
  return rate_limit === undefined ? {} : { rate_count: rate_limit?.count ?? null, rate_per: rate_limit?.per ?? null }
}

function orderOf({ ordering }: Input) {
  return ordering === undefined ? {} : { order_path: ordering === 'none' ? null : ordering.path }
}

function switched(held: DestinationRow, to: { enabled: boolean | undefined; now: Date }) {
  if (to.enabled === undefined || to.enabled === held.enabled) return {}
  return to.enabled
    ? { enabled: true, disabled_reason: null, disabled_at: null }
    : { enabled: false, disabled_reason: 'by_hand' as const, disabled_at: to.now }
}

async function moveDeliveries(tx: Ctx, held: DestinationRow, row: DestinationRow): Promise<void> {
  if (held.enabled === row.enabled) return
  const at = { workspaceId: tx.workspaceId, destinationId: row.id, now: new Date(tx.clock.now()) }
  await (row.enabled ? resumePaused(tx.db, at) : pauseOutstanding(tx.db, { ...at, reason: 'destination_disabled' }))
}
