import { meets, readFilter } from '../../../data/filter.ts'
import { searchText, type Search } from '../../../data/search-text.ts'
import type { Tail } from '../../../data/tail.ts'
import { spanIn } from '../../../parts/span.ts'
import { deliveriesOf, standingOfRow, type EventRow } from './rows.ts'

/** What stands behind the "?" of this screen. */
export type EventsSearch = Search & {
  readonly view?: string
  readonly f?: readonly string[]
  readonly q?: string
  readonly dataset?: string
  readonly range?: string
  /** A range of one's own, as times; it goes before `range`. */
  readonly from?: string
  readonly to?: string
  readonly sel?: string
  readonly tab?: string
  readonly full?: string
  /** `0`: the tail is off. */
  readonly live?: string
}

/** What a view of one's own keeps of the address. */
export function filterOf({ f, q, dataset, range, view }: EventsSearch): EventsSearch {
  return { f, q, dataset, range, view }
}

/** Whether the address shows a view that was kept. */
export function isAt(kept: EventsSearch, shown: EventsSearch): boolean {
  return searchText(filterOf(kept)) === searchText(filterOf(shown))
}

/** The views that everybody has; a view of one's own has a name of its own. */
export const VIEWS = [
  { id: '', label: 'All' },
  { id: 'failing', label: 'Failing' },
  { id: 'rejected', label: 'Rejected' },
] as const

export const RANGES = [
  { id: '30m', label: 'Last 30 min', ms: 1_800_000 },
  { id: '3h', label: 'Last 3 h', ms: 10_800_000 },
  { id: '24h', label: 'Last 24 h', ms: 86_400_000 },
  { id: '', label: 'All that is kept', ms: undefined },
] as const

export type Range = (typeof RANGES)[number]

export function rangeOf({ range }: EventsSearch): Range {
  return RANGES.find(({ id }) => id === (range ?? '')) ?? RANGES[3]
}

export function isFiltered({ view, f, q, dataset }: EventsSearch): boolean {
  return (view ?? '') !== '' || (f ?? []).length > 0 || (q ?? '') !== '' || (dataset ?? '') !== ''
}

/** What is looked for, as the server is asked for it. Times in milliseconds. */
export type Wanted = {
  readonly view: 'all' | 'failing' | 'rejected'
  readonly f: readonly string[]
  readonly q: string | undefined
  readonly dataset: string | undefined
  readonly from: number | undefined
  readonly to: number | undefined
}

/** Whether the server looks through payloads and deliveries for it: then only events can be found. */
export function isNarrowed({ view, f, q, dataset }: Wanted): boolean {
  return view === 'failing' || f.length > 0 || q !== undefined || dataset !== undefined
}

/** What the address asks for; `startedAt` is the begin of a range that ends now. */
export function wantedOf(
  { view, f = [], q = '', dataset = '', ...rest }: EventsSearch,
  startedAt: number | undefined,
): Wanted {
  const own = spanIn(rest)
  return {
    view: view === 'failing' || view === 'rejected' ? view : 'all',
    f,
    q: q === '' ? undefined : q,
    dataset: dataset === '' ? undefined : dataset,
    from: own?.from ?? startedAt,
    to: own?.to,
  }
}

/** Whether a row that the tail brings is one that is looked for: the same that the server says of what is stored. */
export function matcher(
  { view, f, q, dataset, from = -Infinity, to = Infinity }: Wanted,
  tail: Tail,
): (row: EventRow) => boolean {
  const filters = f.map(readFilter)
  const text = q?.toLowerCase()
  const isInTime = ({ at }: EventRow): boolean => Date.parse(at) >= from && Date.parse(at) < to
  return (row) => {
    if (!isInTime(row)) return false
    if (row.kind === 'gap') return filters.length === 0 && text === undefined
    if (view === 'rejected')
      return (
        row.kind === 'rejection' &&
        filters.length === 0 &&
        dataset === undefined &&
        (text === undefined || textOf(row).includes(text))
      )
    if (view === 'failing' && !['fail', 'retry'].includes(standingOfRow(row, deliveriesOf(tail, row)))) return false
    if (filters.length === 0 && text === undefined && dataset === undefined) return true
    if (row.kind !== 'record' || (dataset !== undefined && row.record.dataset !== dataset)) return false
    return (
      filters.every((filter) => filter !== undefined && meets(row.record.data, filter)) &&
      (text === undefined || textOf(row).includes(text))
    )
  }
}

const texts = new WeakMap<object, string>()

/** What text is looked for in, made once for a row: a payload, or what is known of refused requests. */
function textOf(row: EventRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const text = (row.kind === 'record' ? JSON.stringify(row.record.data) : JSON.stringify(row)).toLowerCase()
  texts.set(row, text)
  return text
}
