import { ChevronDown } from 'lucide-react'
import { useEffect, useRef, useState, type ReactElement } from 'react'
import { filterText, isHalfTyped, quotedText, readFilter, signOf, typedFilter } from '@postroad/contract/filter'
import { spanIn, spanText } from '../../../parts/span.ts'
import { useKeys } from '../../../shell/keys.ts'
import { Kbd } from '../../../ui/button.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { FilterChip } from './filter-chip.tsx'
import { RANGES, rangeOf, type EventsSearch } from './search.ts'
import { SettingFilters } from './setting-filters.tsx'

type Props = {
  readonly search: EventsSearch
  readonly change: (change: Partial<EventsSearch>) => void
  /** Paths that payloads have, to choose from while typing. */
  readonly paths: readonly string[]
  /** The sentence of the server about a filter that it refuses. */
  readonly refusal: Error | null
}

/** The filter: chips in the dialect of rules, a field for the next one, and the range. The address contains all of it. */
export function Toolbar({ search, change, paths, refusal }: Props): ReactElement {
  const { f = [] } = search
  const own = spanIn(search)
  // The text that became a condition is no longer searched for.
  const set = (next: readonly string[], also: Partial<EventsSearch> = {}): void => change({ f: next, ...also })
  return (
    <div className="mx-3">
      <div className="flex min-h-9 flex-wrap items-center gap-1.5 rounded-field border border-line bg-sunken p-[4px_5px]">
        {search.dataset !== undefined && search.dataset !== '' && (
          <FilterChip path="dataset" sign="is" value={search.dataset} onRemove={() => change({ dataset: undefined })} />
        )}
        {own !== undefined && (
          <FilterChip
            path="time"
            sign="is"
            value={spanText(own)}
            onRemove={() => change({ from: undefined, to: undefined })}
          />
        )}
        <SettingFilters search={search} change={change} />
        {f.map((text, index) => (
          <Condition key={`${index} ${text}`} text={text} onRemove={() => set(f.filter((_one, at) => at !== index))} />
        ))}
        <FilterField
          search={search}
          change={change}
          paths={paths}
          onFilter={(text) => set([...f.filter((one) => one !== text), text], { q: undefined })}
          onBack={() => set(f.slice(0, -1))}
        />
        <RangeMenu search={search} change={change} />
      </div>
      {refusal !== null && (
        <div className="mt-1.5">
          <RefusedLine error={refusal} />
        </div>
      )}
    </div>
  )
}

function Condition({ text, onRemove }: { readonly text: string; readonly onRemove: () => void }): ReactElement {
  const filter = readFilter(text)
  // A text that is not a condition has a chip too, so that a person can remove it.
  return filter === undefined ? (
    <FilterChip path={text} sign="" value="" onRemove={onRemove} />
  ) : (
    <FilterChip path={filter.path} sign={signOf(filter.op)} value={filter.value} mono onRemove={onRemove} />
  )
}

function RangeMenu({ search, change }: Pick<Props, 'search' | 'change'>): ReactElement {
  const own = spanIn(search)
  const at = own === undefined ? rangeOf(search) : undefined
  return (
    <Menu
      align="end"
      className="flex h-[26px] items-center gap-1 border-l border-line-2 max-md:ml-auto max-md:border-l-0 pr-1 pl-[9px] font-control whitespace-nowrap text-ink-2"
      items={RANGES.map((range) => ({
        label: range.label,
        hint: range === at ? '✓' : '',
        go: () => change({ range: range.id === '' ? undefined : range.id, from: undefined, to: undefined }),
      }))}
    >
      {own === undefined ? at?.label : 'Custom time'}
      <ChevronDown className="size-3.5 text-ink-3" strokeWidth={1.5} aria-hidden />
    </Menu>
  )
}

type FieldProps = Omit<Props, 'refusal'> & { readonly onFilter: (text: string) => void; readonly onBack: () => void }

const IDS = /^(?:sub|rec|dlv|att)_[0-9a-z]{20,32}$/

/** The hint for Enter. The list is not searched for an incomplete condition. */
function hintOf(filter: ReturnType<typeof typedFilter>): ReactElement {
  if (filter === undefined) return <>Enter a value to apply the filter.</>
  return (
    <>
      Enter adds {filter.path} {signOf(filter.op)} {filter.value}
    </>
  )
}

/** Enter turns a condition into a chip, and an id opens its story; any other text is searched for while a person types. */
function FilterField({ search, change, paths, onFilter, onBack }: FieldProps): ReactElement {
  const field = useRef<HTMLInputElement>(null)
  const q = search.q ?? ''
  const [text, setText] = useState(q)
  // The searches of the typed text. The address shows them later, and any other search in it is from a view, a link or Back.
  const asked = useRef<string[]>([])
  useEffect(() => {
    const at = asked.current.indexOf(q)
    asked.current.splice(0, at < 0 ? Infinity : at + 1)
    if (at < 0) setText(q)
  }, [q])
  useKeys({ '/': () => field.current?.focus() })
  const filter = typedFilter(text)
  const isCondition = filter !== undefined || isHalfTyped(text, paths)
  const typed = (next: string): void => {
    setText(next)
    // A condition or an id, even an incomplete one, is not searched for as text, because no event would match it.
    const isText = typedFilter(next) === undefined && !isHalfTyped(next, paths) && !IDS.test(next.trim())
    const sought = isText ? (quotedText(next) ?? next.trim()) : ''
    if (sought === (asked.current.at(-1) ?? q)) return
    asked.current.push(sought)
    change({ q: sought === '' ? undefined : sought })
  }
  return (
    <label className="flex min-w-32 flex-1 items-center gap-1.5">
      <span className="sr-only">Filter</span>
      <input
        ref={field}
        list="known-paths"
        aria-describedby="filter-hint"
        value={text}
        placeholder="Filter by field, ID or text: total > 1000"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => typed(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && filter !== undefined) {
            onFilter(filterText(filter))
            setText('')
          } else if (event.key === 'Enter' && IDS.test(text.trim())) {
            change({ sel: text.trim(), q: undefined })
            setText('')
          }
          if (event.key === 'Backspace' && text === '') onBack()
          if (event.key === 'Escape') field.current?.blur()
        }}
        className="w-full min-w-0 bg-transparent px-1 text-ellipsis outline-none"
      />
      <span id="filter-hint" role="status" className="max-w-[36ch] truncate text-data text-ink-3 max-md:sr-only">
        {isCondition && hintOf(filter)}
      </span>
      <datalist id="known-paths">
        {paths.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      <Kbd>/</Kbd>
    </label>
  )
}
