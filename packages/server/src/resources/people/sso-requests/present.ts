import { encodeId } from '@postroad/contract'
import { wordOf } from '@postroad/contract/lights'
import { refuse, type Refusal } from '../../../domain/refusal.ts'
import type { SsoRequestRow, SsoStatus } from './queries.ts'

/** Row → public shape. */
export function presentRequest(row: SsoRequestRow) {
  return {
    id: encodeId('ssoRequest', row.id),
    kinds: [...row.kinds],
    domains: [...row.domains],
    note: row.note,
    status: row.status,
    requested_at: row.requested_at.toISOString(),
    decided_at: row.decided_at?.toISOString() ?? null,
    reason: row.reason,
    supersedes: row.supersedes === null ? null : encodeId('ssoRequest', row.supersedes),
  }
}

/** Nobody can cancel or decide a request that is no longer pending. */
export function refusedAs(status: Exclude<SsoStatus, 'pending'>): Refusal {
  return refuse(
    'invalid_state',
    `This request is already ${wordOf(status)} and cannot be changed. Create a new request instead.`,
  )
}
