import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import type { ApiKeyRow, ListedApiKeyRow } from './queries.ts'

type Status = 'active' | 'expired' | 'revoked'

/** A revoked key stays revoked. A key with an expiry is expired from that time on. */
export function statusOf(
  { revoked_at, expires_at }: Pick<ApiKeyRow, 'revoked_at' | 'expires_at'>,
  now: number,
): Status {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && expires_at.getTime() <= now ? 'expired' : 'active'
}

/** Row → public shape, without the key. */
export function presentApiKey({ clock }: Pick<Ctx, 'clock'>, row: ListedApiKeyRow) {
  return {
    id: encodeId('apiKey', row.id),
    name: row.name,
    shown_prefix: row.shown_prefix,
    role: row.role,
    project_id: row.project_id === null ? null : encodeId('project', row.project_id),
    expires_at: row.expires_at?.toISOString() ?? null,
    ip_allowlist: [...row.ip_allowlist],
    status: statusOf(row, clock.now()),
    created_by: { id: encodeId('user', row.created_by), name: row.creator_name, is_member: row.is_member },
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  }
}
