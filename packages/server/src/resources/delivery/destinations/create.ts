import { encodeId, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { defaultMaxInFlight } from '../../../domain/delivery/destination-kind.ts'
import { signingOf } from '../../../domain/delivery/signing-keys.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSigningSecret } from '../../mint.ts'
import type { Room } from '../../verbs.ts'
import { changedReach } from './changed-reach.ts'
import { bodyColumns, checkBatch, checkBody } from './check-body.ts'
import { checkKind, checkUrl } from './check-kind.ts'
import { checkMaxInFlight } from './check-max-in-flight.ts'
import { checkPlainHttp } from './check-plain-http.ts'
import { checkTransform, lockTransformOf } from './check-transform.ts'
import { checkTemplate } from './check-template.ts'
import { changedHeaders, sealHeaders } from './headers.ts'
import { presentDestination } from './present.ts'
import { insertDestination } from './queries.ts'
import { NO_REACH, NOTHING_SEALED, sealReach } from './reach.ts'
import { checkSigning, signingColumns } from './signing.ts'

export const create: Room<'destinations'>['create'] = (ctx, input) => createDestination(ctx, { id: ctx.uuid(), input })

type Asked = {
  readonly id: string
  readonly input: RouteInput<Routes['destinations']['create']>
  /** The customer who owns the destination; absent: the project owns it. */
  readonly owner?: { readonly id: string; readonly description: string | null }
}

/** Creates a destination with its signing secret, in the form that Standard Webhooks libraries take. */
export async function createDestination(ctx: Ctx, asked: Asked) {
  await checkNewDestination(ctx, asked.input)
  return insertNewDestination(ctx, asked)
}

/** Refuses a destination that cannot be created. It resolves names and reads the plan, so it comes before the transaction. */
export async function checkNewDestination(ctx: Ctx, input: Asked['input']): Promise<void> {
  checkedReach(ctx, input)
  await checkMaxInFlight(ctx, { asked: input.max_in_flight, accepted: defaultMaxInFlight(input.config) })
  await checkPlainHttp(ctx, { config: input.config, sent: input, held: [] })
}

function checkedReach(ctx: Ctx, input: Asked['input']) {
  checkConditions(input.conditions, 'conditions')
  checkUrl(input.config, input.url, ctx.validateUrl)
  const headers = changedHeaders(input.headers, {})
  const reach = changedReach(ctx, { sent: input, headers, retainedHeaders: [], held: NO_REACH, heldPlace: undefined })
  checkKind({ config: input.config, headers, auth: reach.auth, proxy: reach.proxy })
  checkTemplate(input.payload_template, reach)
  checkBody(input)
  checkBatch({ ...input, max_in_flight: input.max_in_flight ?? defaultMaxInFlight(input.config) })
  checkSigning(input.config, signingOf(input.signing))
  checkTransform(input)
  return { headers, reach }
}

/** Stores a destination that `checkNewDestination` has accepted, alone or as a part of a larger transaction. */
export async function insertNewDestination(ctx: Ctx, { id, input, owner }: Asked) {
  const { headers, reach } = checkedReach(ctx, input)
  return inTransaction(ctx, async (tx) => {
    await lockTransformOf(tx, input.transform_id)
    const secret = mintSigningSecret(tx)
    const now = new Date(tx.clock.now())
    const row = await insertDestination(tx.db, {
      ...tx,
      id,
      name: input.name,
      config: input.config,
      url: input.url,
      enabled: input.enabled,
      disabled_reason: input.enabled ? null : 'by_hand',
      disabled_at: input.enabled ? null : now,
      datasets: input.datasets,
      conditions: input.conditions,
      headers: sealHeaders(tx, { id, headers }),
      schedule_seconds: input.retry.schedule_seconds,
      timeout_ms: input.timeout_ms,
      max_in_flight: input.max_in_flight ?? defaultMaxInFlight(input.config),
      rate_count: input.rate_limit?.count ?? null,
      rate_per: input.rate_limit?.per ?? null,
      order_path: input.ordering === 'none' ? null : input.ordering.path,
      ...signingColumns(tx, { id, config: input.config, signing: input.signing, held: null }),
      payload_template: input.payload_template,
      ...bodyColumns(input),
      transform_id: input.transform_id,
      ...ownerColumns(owner),
      ...sealReach(tx, { id, reach, sent: input, held: NOTHING_SEALED }),
      secret: tx.cipher.seal(secret, secretPlace('destinations.secret', id)),
      now,
    })
    if (row === undefined) throw refuse('name_taken')
    await audit(tx, {
      action: 'create_destination',
      target: encodeId('destination', id),
      details: { name: row.name, ...(owner === undefined ? {} : { customer: encodeId('customer', owner.id) }) },
      change: { before: null, after: presentDestination(tx, row) },
    })
    await configChanged(tx)
    return { destination: presentDestination(tx, row), signing_secret: secret }
  })
}

function ownerColumns(owner: Asked['owner']) {
  return { description: owner?.description ?? null, portal_customer_id: owner?.id ?? null }
}
