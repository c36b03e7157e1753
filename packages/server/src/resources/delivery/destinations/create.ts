import { encodeId, type RouteInput, type Routes } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../../domain/secret-place.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { checkConditions } from '../../check-conditions.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import { mintSigningSecret } from '../../mint.ts'
import type { Room } from '../../verbs.ts'
import { changedReach } from './changed-reach.ts'
import { checkPlainHttp } from './check-plain-http.ts'
import { checkTemplate } from './check-template.ts'
import { changedHeaders, sealHeaders } from './headers.ts'
import { presentDestination } from './present.ts'
import { insertDestination } from './queries.ts'
import { NO_REACH, NOTHING_SEALED, sealReach } from './reach.ts'

export const create: Room<'destinations'>['create'] = (ctx, input) => createDestination(ctx, { id: ctx.uuid(), input })

type Asked = { readonly id: string; readonly input: RouteInput<Routes['destinations']['create']> }

/** Makes a destination with its signing secret, in the form that Standard Webhooks libraries take. */
export async function createDestination(ctx: Ctx, { id, input }: Asked) {
  checkConditions(input.conditions, 'conditions')
  checkUrl(input.url, ctx.whyUrlRefused)
  const headers = changedHeaders(input.headers, {})
  const reach = changedReach(ctx, { sent: input, headers, keptHeaders: [], held: NO_REACH, heldUrl: undefined })
  checkTemplate(input.payload_template, reach)
  await checkPlainHttp(ctx, { sent: input, held: [] })
  return inTransaction(ctx, async (tx) => {
    const secret = mintSigningSecret(tx)
    const now = new Date(tx.clock.now())
    const row = await insertDestination(tx.db, {
      ...tx,
      id,
      name: input.name,
      url: input.url,
      enabled: input.enabled,
      disabled_reason: input.enabled ? null : 'by_hand',
      disabled_at: input.enabled ? null : now,
      datasets: input.datasets,
      conditions: input.conditions,
      headers: sealHeaders(tx, { id, headers }),
      schedule_seconds: input.retry.schedule_seconds,
      timeout_ms: input.timeout_ms,
      max_in_flight: input.max_in_flight,
      rate_count: input.rate_limit?.count ?? null,
      rate_per: input.rate_limit?.per ?? null,
      order_path: input.ordering === 'none' ? null : input.ordering.path,
      signing: input.signing,
      payload_template: input.payload_template,
      ...sealReach(tx, { id, reach, sent: input, held: NOTHING_SEALED }),
      secret: tx.cipher.seal(secret, secretPlace('destinations.secret', id)),
      now,
    })
    if (row === undefined) throw refuse('name_taken')
    await audit(tx, { action: 'create_destination', target: encodeId('destination', id), details: { name: row.name } })
    await configChanged(tx)
    return { destination: presentDestination(tx, row), signing_secret: secret }
  })
}

/** Refuses at once what no delivery could ever reach; names are looked up when they are used. */
export function checkUrl(url: string, whyRefused: (url: string) => string | undefined): void {
  const why = whyRefused(url)
  if (why !== undefined) throw refuse('invalid_url', why)
}
