import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { DataKeyRow } from './queries.ts'

/** A key with an expiry is expired from that time on. */
export function hasExpired({ expires_at }: Pick<DataKeyRow, 'expires_at'>, now: number): boolean {
  return expires_at !== null && expires_at.getTime() <= now
}

/** Row → public shape, without the key. */
export function presentDataKey({ clock }: Pick<Ctx, 'clock'>, row: DataKeyRow) {
  return {
    id: encodeId('dataKey', row.id),
    name: row.name,
    shown_prefix: row.shown_prefix,
    datasets: row.datasets === null ? null : [...row.datasets],
    requests_per_10_seconds: row.requests_per_10_seconds,
    ip_allowlist: [...row.ip_allowlist],
    expires_at: row.expires_at?.toISOString() ?? null,
    status: hasExpired(row, clock.now()) ? ('expired' as const) : ('active' as const),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_by: row.created_by === null ? null : encodeId('user', row.created_by),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
