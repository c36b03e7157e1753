import { LIMITS, type RouteRequest, type Routes } from '@postroad/contract'
import type { Light } from '@postroad/contract/lights'
import type { DataKey } from '../../../data/serving-lists.ts'
import { localText } from '../../../parts/span.ts'
import { listIn } from '../../../parts/text-list.ts'

export type KeyBody = RouteRequest<Routes['dataKeys']['create']>

export type KeyDraft = {
  readonly name: string
  /** null: every dataset. */
  readonly datasets: string | null
  readonly requests: string
  readonly addresses: string
  /** A local time; empty: never. */
  readonly expires: string
}

export const NEW_KEY: KeyDraft = {
  name: '',
  datasets: null,
  requests: String(LIMITS.dataKeyRequestsDefault),
  addresses: '',
  expires: '',
}

export function draftOfKey(of: DataKey): KeyDraft {
  return {
    name: of.name,
    datasets: of.datasets?.join(', ') ?? null,
    requests: String(of.requests_per_10_seconds),
    addresses: of.ip_allowlist.join('\n'),
    expires: of.expires_at === null ? '' : localText(Date.parse(of.expires_at), 'minute'),
  }
}

export function keyBodyOf(draft: KeyDraft): { readonly body: KeyBody } | { readonly problem: string } {
  const datasets = draft.datasets === null ? null : listIn(draft.datasets)
  if (draft.name.trim() === '') return { problem: 'Enter a name.' }
  if (datasets?.length === 0) return { problem: 'Enter at least one dataset, or choose all datasets.' }
  const at = Date.parse(draft.expires)
  if (draft.expires !== '' && Number.isNaN(at)) return { problem: 'The expiry is not a valid time.' }
  return {
    body: {
      name: draft.name.trim(),
      datasets,
      requests_per_10_seconds: Number(draft.requests),
      ip_allowlist: listIn(draft.addresses),
      expires_at: draft.expires === '' ? null : new Date(at).toISOString(),
    },
  }
}

/** The changed members, so that an expiry in the past does not refuse another change. */
// oxlint-disable-next-line max-params -- the new and the stored settings
export function changesIn(body: KeyBody, held: KeyDraft): Partial<KeyBody> {
  const before = keyBodyOf(held)
  if ('problem' in before) return body
  const { body: old } = before
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => {
      const was: unknown = Object.entries(old).find(([other]) => other === name)?.[1]
      return JSON.stringify(value) !== JSON.stringify(was)
    }),
  )
}

export function keyLight({ status }: Pick<DataKey, 'status'>): Light {
  return status === 'active'
    ? { tone: 'ok', word: 'active', text: 'The key works.' }
    : { tone: 'fail', word: 'expired', text: 'Requests with this key get 401.' }
}
