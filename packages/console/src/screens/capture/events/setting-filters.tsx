import { DELIVERY_STATES } from '@postroad/contract'
import { ListFilter } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAllRules } from '../../../data/lists.ts'
import { useDestinations, useWebhooks } from '../../../data/names.ts'
import { EDITED, useFocus } from '../../../parts/filter-entry.ts'
import { TimeEntry } from '../../../parts/time-entry.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { FilterChip } from './filter-chip.tsx'
import type { EventsSearch } from './search.ts'

type Props = {
  readonly search: EventsSearch
  readonly change: (change: Partial<EventsSearch>) => void
}

type Setting = 'webhook' | 'destination' | 'rule' | 'state'
type Choice = { readonly id: string; readonly name: string }
type Offered = { readonly id: Setting; readonly label: string; readonly choices: readonly Choice[] }

const STATES: readonly Choice[] = DELIVERY_STATES.map((id) => ({ id, name: id }))
const NO_RULES: readonly Choice[] = []

/** The filters of events besides their payloads, with the names of the project. */
function useOffered(): readonly Offered[] {
  const webhooks = useWebhooks().all
  const destinations = useDestinations().all
  const { data: rules = NO_RULES } = useAllRules()
  return [
    { id: 'webhook', label: 'Endpoint', choices: webhooks },
    { id: 'destination', label: 'Destination', choices: destinations },
    { id: 'state', label: 'State', choices: STATES },
    { id: 'rule', label: 'Rule', choices: rules },
  ]
}

/** Chips for the endpoint, the destination, the state, the rule and a custom time, and the menu that adds one. */
export function SettingFilters({ search, change }: Props): ReactElement {
  const offered = useOffered()
  const [adding, setAdding] = useState<Setting | 'time' | undefined>()
  const added = offered.find(({ id }) => id === adding)
  return (
    <>
      {offered.map(({ id, label, choices }) => {
        const value = search[id]
        return value === undefined || value === '' ? null : (
          <FilterChip
            key={id}
            path={label.toLowerCase()}
            sign={value.includes(',') ? 'is one of' : 'is'}
            value={namesOf(value, choices)}
            onRemove={() => change({ [id]: undefined })}
          />
        )
      })}
      {added !== undefined && (
        <ChoiceChip
          of={added}
          choose={(value) => {
            setAdding(undefined)
            if (value !== undefined) change({ [added.id]: value })
          }}
        />
      )}
      {adding === 'time' && (
        <TimeEntry
          search={search}
          choose={(span) => {
            setAdding(undefined)
            if (span !== undefined) change({ ...span, range: undefined })
          }}
        />
      )}
      <Menu
        label="Add a filter"
        className="grid size-[26px] flex-none place-items-center rounded-[5px] border border-dashed border-line-2 text-ink-3 hover:text-ink"
        items={[
          ...offered.map(({ id, label, choices }) => ({
            label: `${label}…`,
            hint: choices.length === 0 ? 'none yet' : '',
            disabled: choices.length === 0,
            go: () => setAdding(id),
          })),
          { label: 'Time…', go: () => setAdding('time') },
        ]}
      >
        <ListFilter className="size-3.5" strokeWidth={1.5} aria-hidden />
      </Menu>
    </>
  )
}

function namesOf(value: string, choices: readonly Choice[]): string {
  return value
    .split(',')
    .map((one) => choices.find(({ id }) => id === one)?.name ?? one)
    .join(', ')
}

function ChoiceChip({
  of: { label, choices },
  choose,
}: {
  readonly of: Offered
  readonly choose: (id: string | undefined) => void
}): ReactElement {
  const field = useFocus<HTMLSelectElement>()
  return (
    <span className={EDITED}>
      <label className="flex items-center gap-1">
        {label.toLowerCase()} is
        <select
          ref={field}
          defaultValue=""
          onChange={({ target }) => choose(target.value)}
          onKeyDown={(event) => event.key === 'Escape' && choose(undefined)}
          className="h-6 max-w-[24ch] bg-surface font-strong text-ink"
        >
          <option value="" disabled>
            choose…
          </option>
          {choices.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        aria-label={`Cancel the filter ${label.toLowerCase()}`}
        onClick={() => choose(undefined)}
        className="grid size-6 flex-none place-items-center rounded-chip text-ink-3 hover:text-ink"
      >
        ×
      </button>
    </span>
  )
}
