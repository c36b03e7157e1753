import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { bodySettings } from '../../../domain/delivery/delivery-body.ts'
import { signingOf } from '../../../domain/delivery/signing-keys.ts'
import { presentBreaker } from '../lanes/index.ts'
import { openHeaders, presentHeaders } from './headers.ts'
import type { DestinationRow } from './queries.ts'
import { openReach, presentReach } from './reach.ts'
import { publicKeysOf } from './signing.ts'

/** Row → public shape, without any secret. */
export function presentDestination(ctx: Ctx, row: DestinationRow) {
  return {
    id: encodeId('destination', row.id),
    name: row.name,
    kind: row.config.kind,
    config: row.config,
    url: row.url,
    enabled: row.enabled,
    disabled_reason: row.disabled_reason,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    datasets: row.datasets === null ? null : [...row.datasets],
    conditions: row.conditions,
    headers: presentHeaders(openHeaders(ctx, row)),
    retry: { schedule_seconds: row.schedule_seconds === null ? null : [...row.schedule_seconds] },
    timeout_ms: row.timeout_ms,
    max_in_flight: row.max_in_flight,
    rate_limit: row.rate_count === null || row.rate_per === null ? null : { count: row.rate_count, per: row.rate_per },
    ordering: row.order_path === null ? ('none' as const) : { path: row.order_path },
    breaker: presentBreaker(row.lane),
    signing: signingOf(row.signing),
    public_keys: publicKeysOf(ctx, row),
    previous_secret_expires_at: untilOf(row, ctx.clock.now()),
    ...presentReach(openReach(ctx, row)),
    payload_template: row.payload_template,
    ...presentBody(row),
    transform_id: row.transform_id === null ? null : encodeId('transform', row.transform_id),
    description: row.description,
    customer: presentOwner(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

function presentBody(row: DestinationRow) {
  const { body, forward_headers } = bodySettings(row)
  return { body, forward_headers: [...forward_headers] }
}

function presentOwner({ owner }: DestinationRow) {
  if (owner === null) return null
  const { id, portal_id, customer_id, name } = owner
  return { id: encodeId('customer', id), portal_id: encodeId('portal', portal_id), customer_id, name }
}

/** A deadline that has passed is shown as null. Nothing is written when it passes. */
function untilOf({ previous_secret_expires_at: until }: DestinationRow, now: number): string | null {
  return until === null || until.getTime() <= now ? null : until.toISOString()
}
