import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { IngestKeyRow } from './queries.ts'

/** Row → public shape, without the key and without a secret. */
export function presentIngestKey(ctx: Pick<Ctx, 'clock'>, row: IngestKeyRow) {
  const end = row.previous_signing_secret_expires_at
  return {
    id: encodeId('ingestKey', row.id),
    name: row.name,
    shown_prefix: row.shown_prefix,
    enabled: row.enabled,
    scopes: [...row.scopes],
    datasets: row.datasets === null ? null : [...row.datasets],
    ip_allowlist: [...row.ip_allowlist],
    require_signature: row.signing_secret !== null,
    customer: row.customer,
    previous_signing_secret_expires_at: end !== null && end.getTime() > ctx.clock.now() ? end.toISOString() : null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
