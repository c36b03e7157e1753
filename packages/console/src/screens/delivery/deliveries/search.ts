import { DELIVERY_STATES } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { Search } from '../../../data/search-text.ts'
import type { ListedDelivery } from '../../../data/tail.ts'
import { addressOf, spanIn } from '../../../parts/span.ts'

/** The search parameters of this screen. */
export type DeliveriesSearch = Search & {
  /** A state, or `held`: the deliveries that destinations hold back. */
  readonly state?: string
  readonly destination?: string
  readonly endpoint?: string
  readonly dataset?: string
  /** The id of the rule that filed the event. */
  readonly rule?: string
  readonly range?: string
  /** Two moments, instead of a range that ends now. */
  readonly from?: string
  readonly to?: string
  readonly sel?: string
}

export const VIEWS = [
  { id: '', label: 'All' },
  { id: 'failed', label: 'Failed' },
  { id: 'held', label: 'Held' },
  { id: 'retrying', label: 'Retrying' },
  { id: 'paused', label: 'Paused' },
  { id: 'pending', label: 'Pending' },
  { id: 'delivered', label: 'Delivered' },
] as const

export const RANGES = [
  { id: '1h', label: 'Last hour', ms: 3_600_000 },
  { id: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { id: '7d', label: 'Last 7 days', ms: 604_800_000 },
] as const

type State = (typeof DELIVERY_STATES)[number]
export const stateIn = ({ state }: DeliveriesSearch): State | undefined =>
  DELIVERY_STATES.find((one): one is State => one === state)

export const rangeIn = ({ range }: DeliveriesSearch): (typeof RANGES)[number] | undefined =>
  RANGES.find(({ id }) => id === range)

export function isFiltered({ state, destination, endpoint, dataset, rule, range, from }: DeliveriesSearch): boolean {
  return [state, destination, endpoint, dataset, rule, range, from].some((one) => one !== undefined && one !== '')
}

type Asked = {
  readonly search: DeliveriesSearch
  readonly from: string | undefined
  readonly to: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly signal: AbortSignal
}
export type DeliveryPage = { readonly deliveries: readonly ListedDelivery[]; readonly next_cursor: string | null }

/** One page. The search route answers filters on the event of a delivery; one call of it reads a bounded part. */
export function readDeliveries(
  client: Client,
  { search, from, to, limit, cursor, signal }: Asked,
): Promise<DeliveryPage> {
  const { destination, endpoint, dataset, rule } = search
  const state = stateIn(search)
  const held_by = search.state === 'held' ? 'any' : undefined
  const page = { limit, cursor, from, to, held_by } as const
  return endpoint === undefined && dataset === undefined && rule === undefined
    ? client.deliveries.list({ ...page, state, destination_id: destination }, { signal })
    : client.search.deliveries({ ...page, state, destination, webhook: endpoint, dataset, rule, f: [] }, { signal })
}

/** The same list as an address of the API, for a command. */
export function apiPath(search: DeliveriesSearch): {
  readonly path: string
  readonly query: Readonly<Record<string, string | undefined>>
} {
  const { destination, endpoint, dataset, rule } = search
  const state = stateIn(search)
  const held_by = search.state === 'held' ? 'any' : undefined
  const { from, to } = boundsOf(search)
  return endpoint === undefined && dataset === undefined && rule === undefined
    ? { path: 'deliveries', query: { state, held_by, destination_id: destination, from, to } }
    : { path: 'search/deliveries', query: { state, held_by, destination, webhook: endpoint, dataset, rule, from, to } }
}

/** The start and the end of the time in which the listed deliveries were created. */
export function boundsOf(search: DeliveriesSearch, now = Date.now()): ReturnType<typeof addressOf> {
  const range = rangeIn(search)
  if (range === undefined) return addressOf(spanIn(search))
  return { from: new Date(now - range.ms).toISOString(), to: undefined }
}
