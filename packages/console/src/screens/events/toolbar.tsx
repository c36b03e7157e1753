import { ChevronDown } from 'lucide-react'
import { useRef, useState, type ReactElement } from 'react'
import { filterText, signOf, typedFilter, type Filter } from '../../data/filter.ts'
import { useKeys } from '../../shell/keys.ts'
import { Kbd } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { filtersOf, RANGES, rangeOf, type EventsSearch } from './search.ts'

type Props = {
  readonly search: EventsSearch
  readonly change: (change: Partial<EventsSearch>) => void
  /** Paths that payloads have, to choose from while typing. */
  readonly paths: readonly string[]
}

/** The filter: chips in the dialect of rules, a field for the next one, and the range. All of it stands in the address. */
export function Toolbar({ search, change, paths }: Props): ReactElement {
  const filters = filtersOf(search)
  // The text that became a condition is looked for no more.
  const set = (next: readonly Filter[], also: Partial<EventsSearch> = {}): void => change({ f: next.map(filterText), ...also })
  return (
    <div className="mx-3 flex min-h-9 flex-wrap items-center gap-1.5 rounded-field border border-line bg-sunken p-[4px_5px]">
      {search.dataset !== undefined && search.dataset !== '' && <FilterChip path="dataset" sign="is" value={search.dataset.replaceAll(',', ', ')} onRemove={() => change({ dataset: undefined })} />}
      {filters.map((filter, index) => (
        <FilterChip key={filterText(filter)} path={filter.path} sign={signOf(filter.op)} value={filter.value} mono onRemove={() => set(filters.filter((_one, at) => at !== index))} />
      ))}
      <FilterField search={search} change={change} paths={paths} onFilter={(filter) => set([...filters.filter((one) => filterText(one) !== filterText(filter)), filter], { q: undefined })} onBack={() => set(filters.slice(0, -1))} />
      <Menu align="end" className="flex h-[26px] items-center gap-1 border-l border-line-2 pr-1 pl-[9px] font-control whitespace-nowrap text-ink-2" items={RANGES.map((range) => ({ label: range.label, hint: range === rangeOf(search) ? '✓' : '', go: () => change({ range: range.id === '' ? undefined : range.id }) }))}>
        {rangeOf(search).label}
        <ChevronDown className="size-3.5 text-ink-3" strokeWidth={1.5} aria-hidden />
      </Menu>
    </div>
  )
}

function FilterChip({ path, sign, value, mono = false, onRemove }: { readonly path: string; readonly sign: string; readonly value: string; readonly mono?: boolean; readonly onRemove: () => void }): ReactElement {
  return (
    <span className="inline-flex h-[26px] max-w-[40ch] items-center gap-1 rounded-[5px] border border-line-2 bg-surface pl-2 whitespace-nowrap text-ink-3">
      <span className="truncate text-ink-2">{path}</span> {sign} <b className={`truncate text-ink ${mono ? 'mono text-data font-control' : 'font-strong'}`}>{value}</b>
      <button type="button" aria-label={`Remove the filter ${path} ${sign} ${value}`} onClick={onRemove} className="grid size-6 flex-none place-items-center rounded-chip text-ink-3 hover:text-ink">×</button>
    </span>
  )
}

type FieldProps = Props & { readonly onFilter: (filter: Filter) => void; readonly onBack: () => void }

/** A condition makes a chip with Enter; anything else is text that is looked for as one types. */
function FilterField({ search, change, paths, onFilter, onBack }: FieldProps): ReactElement {
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState(search.q ?? '')
  useKeys({ '/': () => field.current?.focus() })
  const typed = (next: string): void => {
    setText(next)
    if (typedFilter(next) === undefined) change({ q: next === '' ? undefined : next })
  }
  return (
    <label className="flex min-w-32 flex-1 items-center gap-1.5">
      <span className="sr-only">Filter</span>
      <input
        ref={field}
        list="known-paths"
        value={text}
        placeholder="Filter by field, id or text: total > 1000"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => typed(event.target.value)}
        onKeyDown={(event) => {
          const filter = typedFilter(text)
          if (event.key === 'Enter' && filter !== undefined) {
            onFilter(filter)
            setText('')
          }
          if (event.key === 'Backspace' && text === '') onBack()
          if (event.key === 'Escape') field.current?.blur()
        }}
        className="w-full min-w-0 bg-transparent px-1 text-ellipsis outline-none"
      />
      <datalist id="known-paths">{paths.map((path) => <option key={path} value={path} />)}</datalist>
      <Kbd>/</Kbd>
    </label>
  )
}
