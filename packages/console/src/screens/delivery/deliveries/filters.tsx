import { wordOf } from '@postroad/contract/lights'
import { Plus, X } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAllRules } from '../../../data/lists.ts'
import { useDestinations, useWebhooks } from '../../../data/names.ts'
import { spanIn, spanText } from '../../../parts/span.ts'
import { TimeEntry } from '../../../parts/time-entry.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { RANGES, rangeIn, VIEWS, type DeliveriesSearch } from './search.ts'

type Props = {
  readonly search: DeliveriesSearch
  readonly change: (change: Partial<DeliveriesSearch>) => void
}
type Member = 'state' | 'destination' | 'endpoint' | 'dataset' | 'rule' | 'range'

const NO_RULES: readonly { readonly id: string; readonly name: string }[] = []

/** The current filters, each as a removable chip, and menus for the next filter. */
export function Filters({ search, change }: Props): ReactElement {
  const destinations = useDestinations()
  const webhooks = useWebhooks()
  const { data: rules = NO_RULES } = useAllRules()
  const datasets = [...new Set(webhooks.all.map(({ dataset }) => dataset))].toSorted()
  const shown: readonly (readonly [Member, string | undefined])[] = [
    ['state', stateText(search)],
    ['destination', search.destination === undefined ? undefined : destinations.nameOf(search.destination)],
    ['endpoint', search.endpoint === undefined ? undefined : webhooks.nameOf(search.endpoint)],
    ['dataset', search.dataset],
    ['rule', rules.find(({ id }) => id === search.rule)?.name ?? search.rule],
    ['range', timeText(search)],
  ]
  const set = (member: Member, value: string | undefined): void =>
    change({ [member]: value, sel: undefined, ...(member === 'range' ? { from: undefined, to: undefined } : {}) })
  return (
    <div
      role="group"
      aria-label="Filters"
      className="mx-3 mb-2 flex min-h-9 flex-wrap items-center gap-1.5 rounded-field border border-line bg-sunken p-[4px_5px]"
    >
      {shown.map(
        ([member, value]) =>
          value !== undefined &&
          value !== '' && (
            <Chip key={member} label={LABELS[member]} value={value} onRemove={() => set(member, undefined)} />
          ),
      )}
      {search.destination === undefined && (
        <Choice label="Destination" of={destinations.all} go={(id) => set('destination', id)} />
      )}
      {search.endpoint === undefined && <Choice label="Endpoint" of={webhooks.all} go={(id) => set('endpoint', id)} />}
      {search.dataset === undefined && (
        <Choice label="Dataset" of={datasets.map((name) => ({ id: name, name }))} go={(name) => set('dataset', name)} />
      )}
      {search.rule === undefined && <Choice label="Rule" of={rules} go={(id) => set('rule', id)} />}
      <TimeFilter search={search} change={change} />
    </div>
  )
}

function stateText({ state }: DeliveriesSearch): string | undefined {
  if (state === undefined) return undefined
  return VIEWS.find(({ id }) => id !== '' && id === state)?.label.toLowerCase() ?? wordOf(state)
}

function timeText(search: DeliveriesSearch): string | undefined {
  const own = spanIn(search)
  return rangeIn(search)?.label.toLowerCase() ?? (own === undefined ? undefined : spanText(own))
}

const BETWEEN = { id: 'between', name: 'Between…' } as const

/** The ranges that end now, and any two moments. */
function TimeFilter({ search, change }: Props): ReactElement | null {
  const [isEditing, setEditing] = useState(false)
  if (isEditing)
    return (
      <TimeEntry
        search={search}
        choose={(times) => {
          setEditing(false)
          if (times !== undefined) change({ ...times, sel: undefined })
        }}
      />
    )
  if (timeText(search) !== undefined) return null
  return (
    <Choice
      label="Time"
      of={[...RANGES.map(({ id, label }) => ({ id, name: label })), BETWEEN]}
      go={(id) => (id === BETWEEN.id ? setEditing(true) : change({ range: id, sel: undefined }))}
    />
  )
}

const LABELS: Readonly<Record<Member, string>> = {
  state: 'state',
  destination: 'destination',
  endpoint: 'endpoint',
  dataset: 'dataset',
  rule: 'rule',
  range: 'created',
}

function Chip({
  label,
  value,
  onRemove,
}: {
  readonly label: string
  readonly value: string
  readonly onRemove: () => void
}): ReactElement {
  return (
    <span className="inline-flex h-[26px] max-w-[40ch] items-center gap-1 rounded-[5px] border border-line-2 bg-surface pl-2 whitespace-nowrap text-ink-3">
      {label} <b className="truncate font-strong text-ink">{value}</b>
      <button
        type="button"
        aria-label={`Remove the filter ${label} ${value}`}
        onClick={onRemove}
        className="grid size-6 flex-none place-items-center rounded-chip text-ink-3 hover:text-ink"
      >
        <X className="size-3.5" strokeWidth={1.5} aria-hidden />
      </button>
    </span>
  )
}

function Choice({
  label,
  of,
  go,
}: {
  readonly label: string
  readonly of: readonly { readonly id: string; readonly name: string }[]
  readonly go: (id: string) => void
}): ReactElement | null {
  if (of.length === 0) return null
  return (
    <Menu
      label={`Filter by ${label.toLowerCase()}`}
      className="flex h-[26px] items-center gap-1 rounded-[5px] px-2 font-control text-ink-2 hover:bg-hover"
      items={of.map(({ id, name }) => ({ label: name, go: () => go(id) }))}
    >
      <Plus className="size-3.5 text-ink-3" strokeWidth={1.5} aria-hidden />
      {label}
    </Menu>
  )
}
