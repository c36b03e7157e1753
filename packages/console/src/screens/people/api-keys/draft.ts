import type { RouteRequest, Routes } from '@postroad/contract'
import type { ApiKey } from '../../../data/lists.ts'
import { listIn } from '../../../parts/text-list.ts'

const DAY_MS = 86_400_000

/** The lifetimes of a new key (contract part 5). */
export const EXPIRIES = [
  { id: '7', label: '7 days' },
  { id: '30', label: '30 days' },
  { id: '90', label: '90 days' },
  { id: '365', label: '1 year' },
  { id: 'never', label: 'Never' },
] as const
export type Expiry = (typeof EXPIRIES)[number]['id']

export type KeyDraft = {
  readonly name: string
  readonly role: ApiKey['role']
  /** null: the whole workspace. */
  readonly projectId: string | null
  readonly expiry: Expiry
  /** One a line. */
  readonly addresses: string
}

export type KeyBody = RouteRequest<Routes['apiKeys']['create']>

/** The end of a key that is created now; null: it never expires. */
export function endOf(expiry: Expiry, now: number): string | null {
  return expiry === 'never' ? null : new Date(now + Number(expiry) * DAY_MS).toISOString()
}

export function bodyOf({ name, role, projectId, expiry, addresses }: KeyDraft, now: number): KeyBody {
  return {
    name: name.trim(),
    role,
    project_id: projectId,
    expires_at: endOf(expiry, now),
    ip_allowlist: listIn(addresses),
  }
}
