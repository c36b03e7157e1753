import { X } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { useAllMembers } from '../../../data/lists.ts'
import { Button } from '../../../ui/button.tsx'
import type { AuditSearch } from './search.ts'

type Props = {
  readonly search: AuditSearch
  readonly actions: readonly string[]
  readonly change: (part: Partial<AuditSearch>) => void
}

const BOX = 'h-7 rounded-button border border-line-2 bg-surface px-2 text-ink'
const orNone = (text: string): string | undefined => (text === '' ? undefined : text)

/** The filter of the log: actor, action, object and time. The address contains it. */
export function Filters({ search, actions, change }: Props): ReactElement {
  const members = useAllMembers().data ?? []
  const { actor = '', action = '', target = '', agent = '', from = '', to = '' } = search
  const isFiltered = [actor, action, target, agent, from, to].some((one) => one !== '')
  const isUnknown = actor !== '' && actor !== 'system' && members.every(({ id }) => id !== actor)
  return (
    <div
      role="group"
      aria-label="Filter"
      className="flex flex-none flex-wrap items-center gap-2 border-y border-line bg-sunken px-[18px] py-1.5"
    >
      <select
        aria-label="Who"
        className={BOX}
        value={actor}
        onChange={({ target: { value } }) => change({ actor: orNone(value) })}
      >
        <option value="">Everyone</option>
        <option value="system">Postroad</option>
        {isUnknown && <option value={actor}>{actor}</option>}
        {members.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <select
        aria-label="Action"
        className={BOX}
        value={action}
        onChange={({ target: { value } }) => change({ action: orNone(value) })}
      >
        <option value="">All actions</option>
        {[...new Set([...actions, ...(action === '' ? [] : [action])])].toSorted().map((one) => (
          <option key={one} value={one}>
            {one.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
      <input
        aria-label="Object"
        placeholder="Object ID"
        className={`${BOX} mono w-34 text-data`}
        value={target}
        onChange={({ target: { value } }) => change({ target: orNone(value.trim()) })}
      />
      <div className="flex flex-wrap items-center gap-2">
        <Labeled text="From">
          <input
            type="date"
            className={BOX}
            value={from}
            onChange={({ target: { value } }) => change({ from: orNone(value) })}
          />
        </Labeled>
        <Labeled text="To">
          <input
            type="date"
            className={BOX}
            value={to}
            onChange={({ target: { value } }) => change({ to: orNone(value) })}
          />
        </Labeled>
      </div>
      {agent !== '' && (
        <Button icon={<X strokeWidth={1.5} />} title="Show all agents" onClick={() => change({ agent: undefined })}>
          {agent}
        </Button>
      )}
      {isFiltered && (
        <Button
          kind="quiet"
          onClick={() =>
            change({
              actor: undefined,
              action: undefined,
              target: undefined,
              agent: undefined,
              from: undefined,
              to: undefined,
            })
          }
        >
          Clear
        </Button>
      )}
    </div>
  )
}

function Labeled({ text, children }: { readonly text: string; readonly children: ReactNode }): ReactElement {
  return (
    <label className="flex items-center gap-1.5 text-ink-3">
      {text}
      {children}
    </label>
  )
}
