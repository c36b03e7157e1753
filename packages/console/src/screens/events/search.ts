import { meets, readFilter, type Filter } from '../../data/filter.ts'
import type { Search } from '../../data/search-text.ts'
import type { Tail } from '../../data/tail.ts'
import { deliveriesOf, standingOfRow, titleOf, type EventRow } from './rows.ts'

/** What stands behind the "?" of this screen. */
export type EventsSearch = Search & {
  readonly view?: string
  readonly f?: readonly string[]
  readonly q?: string
  readonly dataset?: string
  readonly range?: string
  readonly sel?: string
  readonly tab?: string
  readonly full?: string
  /** `0`: the tail is off. */
  readonly live?: string
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

export function filtersOf({ f = [] }: EventsSearch): readonly Filter[] {
  return f.flatMap((text) => readFilter(text) ?? [])
}

export function isFiltered({ view, f, q, dataset }: EventsSearch): boolean {
  return (view ?? '') !== '' || (f ?? []).length > 0 || (q ?? '') !== '' || (dataset ?? '') !== ''
}

/** Whether a row is one that is looked for. */
export function matcher(search: EventsSearch, tail: Tail): (row: EventRow) => boolean {
  const filters = filtersOf(search)
  const text = search.q?.toLowerCase() ?? ''
  const datasets = search.dataset === undefined || search.dataset === '' ? undefined : search.dataset.split(',')
  const meetsView = viewTest(search.view, tail)
  return (row) => {
    if (row.kind === 'gap') return filters.length === 0 && text === ''
    if (!meetsView(row)) return false
    if (datasets !== undefined && !(row.kind === 'record' && datasets.includes(row.record.dataset))) return false
    if (filters.length > 0 && !(row.kind === 'record' && filters.every((filter) => meets(row.record.data, filter)))) return false
    return text === '' || textOf(row).includes(text)
  }
}

function viewTest(view: string | undefined, tail: Tail): (row: EventRow) => boolean {
  if (view === 'rejected') return (row) => row.kind === 'rejection'
  if (view === 'failing') return (row) => ['fail', 'retry'].includes(standingOfRow(row, deliveriesOf(tail, row)))
  return () => true
}

const texts = new WeakMap<object, string>()

/** What text is looked for in, made once for a row. */
function textOf(row: EventRow): string {
  const known = texts.get(row)
  if (known !== undefined) return known
  const text = (row.kind === 'record' ? `${row.id} ${titleOf(row.record.data, '')} ${row.record.dataset} ${JSON.stringify(row.record.data)}` : JSON.stringify(row)).toLowerCase()
  texts.set(row, text)
  return text
}
