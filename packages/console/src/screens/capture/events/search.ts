import { DELIVERY_STATES } from '@postroad/contract'
import { TROUBLE_CAUSES } from '@postroad/contract/holds'
import { isOfRequest, meets, readFilter, type MatchesPattern } from '@postroad/contract/filter'
import { searchText, type Search } from '../../../data/search-text.ts'
import type { Delivery, Filed, Rejection, Tail } from '../../../data/tail.ts'
import { spanIn } from '../../../parts/span.ts'
import { deliveriesOf, type EventRow } from './rows.ts'

/** The part after the "?" of this screen. */
export type EventsSearch = Search & {
  readonly view?: string
  readonly f?: readonly string[]
  readonly q?: string
  readonly dataset?: string
  /** Ids of the endpoint, the destination and the rule, and states of deliveries with commas between. */
  readonly webhook?: string
  readonly destination?: string
  readonly rule?: string
  readonly state?: string
  readonly range?: string
  /** A custom range, as times; it takes precedence over `range`. */
  readonly from?: string
  readonly to?: string
  readonly sel?: string
  readonly tab?: string
  readonly full?: string
  /** `0`: the tail is off. */
  readonly live?: string
}

/** The part of the address that a custom view stores. */
export function filterOf(search: EventsSearch): EventsSearch {
  const { f, q, dataset, webhook, destination, rule, state, range, view } = search
  return { f, q, dataset, webhook, destination, rule, state, range, view }
}

/** Whether the address shows this stored view. */
export function isAt(kept: EventsSearch, shown: EventsSearch): boolean {
  return searchText(filterOf(kept)) === searchText(filterOf(shown))
}

/** The built-in views; a custom view has another name. */
export const VIEWS = [
  { id: '', label: 'All' },
  { id: 'failing', label: 'Failing' },
  { id: 'rejected', label: 'Rejected' },
] as const

export const RANGES = [
  { id: '30m', label: 'Last 30 min', ms: 1_800_000 },
  { id: '3h', label: 'Last 3 h', ms: 10_800_000 },
  { id: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { id: '', label: 'All retained events', ms: undefined },
] as const

export type Range = (typeof RANGES)[number]

export function rangeOf({ range }: EventsSearch): Range {
  return RANGES.find(({ id }) => id === (range ?? '')) ?? RANGES[3]
}

export function isFiltered(search: EventsSearch): boolean {
  const { view, q, dataset, webhook, destination, rule, state } = search
  return (
    (search.f ?? []).length > 0 ||
    [view, q, dataset, webhook, destination, rule, state].some((one) => (one ?? '') !== '')
  )
}

/** The search as the server gets it. Times are in milliseconds. */
export type Wanted = {
  readonly view: 'all' | 'failing' | 'rejected'
  readonly f: readonly string[]
  readonly q: string | undefined
  readonly dataset: string | undefined
  readonly webhook: string | undefined
  readonly destination: string | undefined
  readonly rule: string | undefined
  /** States with commas between them. */
  readonly state: string | undefined
  readonly from: number | undefined
  readonly to: number | undefined
}

/** Whether the server searches payloads and deliveries for it. Rejected requests have neither. */
export function isNarrowed(wanted: Wanted): boolean {
  return wanted.f.length > 0 || wanted.q !== undefined || wanted.webhook !== undefined || asksForRecords(wanted)
}

/** Whether only filed requests can match: an unfiled request has no dataset, no rule and no delivery. */
export function asksForRecords({ view, dataset, destination, rule, state }: Wanted): boolean {
  return view === 'failing' || [dataset, destination, rule, state].some((one) => one !== undefined)
}

/** The search of the address; `startedAt` is the start of a range that ends now. */
export function wantedOf(
  { view, f = [], q = '', dataset, webhook, destination, rule, state, ...rest }: EventsSearch,
  startedAt: number | undefined,
): Wanted {
  const own = spanIn(rest)
  return {
    view: view === 'failing' || view === 'rejected' ? view : 'all',
    f,
    q: q === '' ? undefined : q,
    dataset: given(dataset),
    webhook: given(webhook),
    destination: given(destination),
    rule: given(rule),
    state: given(state),
    from: own?.from ?? startedAt,
    to: own?.to,
  }
}

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text)

/** The states of an address that deliveries can be in. */
export function statesIn(text: string | undefined): readonly string[] {
  const asked = (text ?? '').split(',')
  return DELIVERY_STATES.filter((state) => asked.includes(state))
}

/** Where the server looks for a text: titles come from headers, and the query string belongs to them. */
export const placesOf = (q: string | undefined): string | undefined => (q === undefined ? undefined : 'payload,headers')

/**
 * Whether a row of the tail matches the search, by the same rules as the server. Of the headers the tail knows only the one
 * that gives the title.
 */
export function matcher(
  wanted: Wanted,
  { tail, matches }: { readonly tail: Tail; readonly matches: MatchesPattern },
): (row: EventRow) => boolean {
  const { view, f, q, from = -Infinity, to = Infinity } = wanted
  const filters = f.map(readFilter)
  const text = q?.toLowerCase()
  const isInTime = ({ at }: EventRow): boolean => Date.parse(at) >= from && Date.parse(at) < to
  const hasText = (row: EventRow): boolean => text === undefined || textOf(row).includes(text)
  const isAskedFor = isNarrowed(wanted)
  return (row) => {
    if (!isInTime(row)) return false
    if (row.kind === 'gap') return filters.length === 0 && text === undefined
    if (view === 'rejected') return row.kind === 'rejection' && isRejectionLike(row.rejection, wanted) && hasText(row)
    if (view === 'failing' && !deliveriesOf(tail, row).some(isFailing)) return false
    if (!isAskedFor) return true
    return (
      row.kind === 'record' &&
      isRecordLike(row.record, wanted) &&
      hasWantedDelivery(row, wanted, tail) &&
      filters.every((filter) => filter !== undefined && meets(row.record, filter, matches)) &&
      hasText(row)
    )
  }
}

/** The server's definition: it failed, waits for a retry, or its destination has a fault. */
function isFailing({ state, held_by }: Delivery): boolean {
  return state === 'failed' || state === 'retrying' || (held_by !== null && TROUBLE_CAUSES.has(held_by.cause))
}

/** Whether only the server can find the events of the tail: it alone knows the rule and the request of an event. */
export const asksServer = ({ rule, f }: Wanted): boolean =>
  rule !== undefined || f.some((text) => isOfRequest(readFilter(text)?.path ?? ''))

/** A rejected request has no payload, no dataset, no rule and no delivery. */
function isRejectionLike({ webhook_id }: Rejection, wanted: Wanted): boolean {
  if (wanted.f.length > 0 || asksForRecords(wanted)) return false
  return wanted.webhook === undefined || webhook_id === wanted.webhook
}

/** Only the server knows which rule filed an event. */
function isRecordLike(record: Filed, { dataset, webhook, rule }: Wanted): boolean {
  if (rule !== undefined || (dataset !== undefined && record.dataset !== dataset)) return false
  return webhook === undefined || record.webhook_id === webhook
}

/** One delivery must be for the destination and in one of the states. */
function hasWantedDelivery(row: EventRow, { destination, state }: Wanted, tail: Tail): boolean {
  if (destination === undefined && state === undefined) return true
  const states = statesIn(state)
  return deliveriesOf(tail, row).some(
    (delivery) =>
      (destination === undefined || delivery.destination_id === destination) &&
      (state === undefined || states.some((one) => one === delivery.state)),
  )
}

const texts = new WeakMap<object, string>()

/** The text of a row that is searched, made once: its title and payload, or the facts of a rejected request. */
function textOf(row: EventRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const text = (
    row.kind === 'record' ? `${row.record.header_title ?? ''}\n${JSON.stringify(row.record.data)}` : JSON.stringify(row)
  ).toLowerCase()
  texts.set(row, text)
  return text
}
