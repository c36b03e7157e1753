import { INGEST_KEY_SCOPES, type RouteRequest, type Routes } from '@postroad/contract'
import type { IngestKey } from '../../../data/lists.ts'
import { listIn } from '../../../parts/text-list.ts'

type Scope = IngestKey['scopes'][number]

/** An ingest key in a form. */
export type KeyDraft = {
  readonly name: string
  readonly scopes: readonly Scope[]
  /** null: every dataset. */
  readonly datasets: string | null
  /** One a line. */
  readonly addresses: string
}

export const NEW_KEY: KeyDraft = { name: '', scopes: INGEST_KEY_SCOPES, datasets: null, addresses: '' }

export function draftOfKey({ name, scopes, datasets, ip_allowlist }: IngestKey): KeyDraft {
  return { name, scopes, datasets: datasets?.join(', ') ?? null, addresses: ip_allowlist.join('\n') }
}

type Body = Pick<RouteRequest<Routes['ingestKeys']['create']>, 'name' | 'scopes' | 'datasets' | 'ip_allowlist'>

/** The request body of a draft, or the sentence about its fault. The server checks the rest. */
export function bodyOf({
  name,
  scopes,
  datasets,
  addresses,
}: KeyDraft): { readonly body: Body } | { readonly problem: string } {
  if (scopes.length === 0) return { problem: 'A key needs at least one scope. Choose sending, reading, or both.' }
  const named = datasets === null ? null : listIn(datasets)
  if (named?.length === 0) return { problem: 'Name at least one dataset, or choose every dataset.' }
  return { body: { name: name.trim(), scopes: [...scopes], datasets: named, ip_allowlist: listIn(addresses) } }
}
