import { INGEST_KEY_SCOPES, type RouteRequest, type Routes } from '@postroad/contract'
import type { IngestKey } from '../../../data/lists.ts'
import { customerDraftOf, customerOf, type CustomerDraft } from '../../../parts/customer-fields.tsx'
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
  readonly customer: CustomerDraft
}

export const NEW_KEY: KeyDraft = {
  name: '',
  scopes: INGEST_KEY_SCOPES,
  datasets: null,
  addresses: '',
  customer: customerDraftOf(null),
}

export function draftOfKey({ name, scopes, datasets, ip_allowlist, customer }: IngestKey): KeyDraft {
  return {
    name,
    scopes,
    datasets: datasets?.join(', ') ?? null,
    addresses: ip_allowlist.join('\n'),
    customer: customerDraftOf(customer),
  }
}

type Body = Pick<
  RouteRequest<Routes['ingestKeys']['create']>,
  'name' | 'scopes' | 'datasets' | 'ip_allowlist' | 'customer'
>

/** The request body of a draft, or the sentence about its fault. The server checks the rest. */
export function bodyOf({
  name,
  scopes,
  datasets,
  addresses,
  customer,
}: KeyDraft): { readonly body: Body } | { readonly problem: string } {
  if (scopes.length === 0) return { problem: 'Choose at least one: send, read, or both.' }
  const named = datasets === null ? null : listIn(datasets)
  if (named?.length === 0) return { problem: 'Enter at least one dataset, or choose all datasets.' }
  const of = customerOf(customer)
  if ('problem' in of) return of
  return { body: { name: name.trim(), scopes: [...scopes], datasets: named, ip_allowlist: listIn(addresses), ...of } }
}
