import { LIMITS, TRANSFORMS } from '@postroad/contract'
import { ArrowRight, Plus, X } from 'lucide-react'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { NEW_MAPPING, type MappingDraft } from './mapping-draft.ts'
import { RequestPaths } from './request-paths.tsx'

const BOX = 'h-8 min-w-0 rounded-field border border-line-2 bg-surface px-2.5 text-ink disabled:opacity-60'

type Props = {
  readonly mappings: readonly MappingDraft[]
  readonly change: (mappings: readonly MappingDraft[]) => void
  readonly disabled?: boolean
}

/** The fields of a record and their sources. Without fields, the record is the payload as it arrived. */
export function Mappings({ mappings, change, disabled = false }: Props): ReactElement {
  const set = (at: number, part: Partial<MappingDraft>): void =>
    change(mappings.map((one, index) => (index === at ? { ...one, ...part } : one)))
  return (
    <div role="group" aria-label="Mappings" className="mb-3.5">
      <p className="mb-1 font-control">Fields</p>
      {mappings.length === 0 && (
        <p className="mb-2 text-ink-3">
          Postroad stores the whole payload byte for byte. Add a field to store only specific fields.
        </p>
      )}
      {mappings.map((mapping, index) => (
        <Line
          key={index}
          number={index + 1}
          mapping={mapping}
          disabled={disabled}
          set={(part) => set(index, part)}
          remove={() => change(mappings.filter((_one, at) => at !== index))}
        />
      ))}
      {mappings.length > 0 && <RequestPaths />}
      <Button
        icon={<Plus strokeWidth={1.5} />}
        disabled={disabled || mappings.length >= LIMITS.mappingsPerListMax}
        onClick={() => change([...mappings, NEW_MAPPING])}
      >
        Add a field
      </Button>
    </div>
  )
}

type LineProps = {
  readonly number: number
  readonly mapping: MappingDraft
  readonly disabled: boolean
  readonly set: (part: Partial<MappingDraft>) => void
  readonly remove: () => void
}

function Line({
  number,
  mapping: { target, from, path, value, fallback, transform },
  disabled,
  set,
  remove,
}: LineProps): ReactElement {
  return (
    <div className="mb-2.5 grid grid-cols-[96px_minmax(0,1fr)_16px_minmax(0,1fr)_28px] items-center gap-1.5 max-md:grid-cols-[76px_minmax(0,1fr)_14px_minmax(0,1fr)_24px]">
      <select
        aria-label={`Source of field ${number}`}
        value={from}
        disabled={disabled}
        onChange={({ target: { value: to } }) => set({ from: to === 'value' ? 'value' : 'path' })}
        className={BOX}
      >
        <option value="path">path</option>
        <option value="value">constant</option>
      </select>
      {from === 'path' ? (
        <input
          aria-label={`Path of field ${number}`}
          placeholder="data.customer.id"
          value={path}
          disabled={disabled}
          onChange={(event) => set({ path: event.target.value })}
          className={`${BOX} mono text-data`}
          spellCheck={false}
        />
      ) : (
        <input
          aria-label={`Constant of field ${number}`}
          placeholder={'"eu" or 42'}
          value={value}
          disabled={disabled}
          onChange={(event) => set({ value: event.target.value })}
          className={`${BOX} mono text-data`}
          spellCheck={false}
        />
      )}
      <ArrowRight className="size-3.5 text-ink-3" strokeWidth={1.5} aria-hidden />
      <input
        aria-label={`Target of field ${number}`}
        placeholder="customer"
        value={target}
        disabled={disabled}
        onChange={(event) => set({ target: event.target.value })}
        className={`${BOX} mono text-data`}
        spellCheck={false}
      />
      <IconButton label={`Remove field ${number}`} disabled={disabled} onClick={remove}>
        <X strokeWidth={1.5} />
      </IconButton>
      {from === 'path' && (
        <div className="col-span-3 col-start-2 flex flex-wrap items-center gap-1.5 text-data text-ink-3 max-md:col-span-4 max-md:col-start-1">
          as
          <select
            aria-label={`Transform of field ${number}`}
            value={transform}
            disabled={disabled}
            onChange={(event) => set({ transform: TRANSFORMS.find((one) => one === event.target.value) ?? '' })}
            className={`${BOX} h-7`}
          >
            <option value="">it is</option>
            {TRANSFORMS.map((one) => (
              <option key={one} value={one}>
                {one.replaceAll('_', ' ')}
              </option>
            ))}
          </select>
          otherwise
          <input
            aria-label={`Default of field ${number}`}
            placeholder="left out"
            value={fallback}
            disabled={disabled}
            onChange={(event) => set({ fallback: event.target.value })}
            className={`${BOX} mono h-7 min-w-20 flex-1 text-data`}
            spellCheck={false}
          />
        </div>
      )}
    </div>
  )
}
