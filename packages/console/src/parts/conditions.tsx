import { CONDITION_OPS, LIMITS } from '@postroad/contract'
import { Plus, X } from 'lucide-react'
import type { ReactElement } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { signOf } from '@postroad/contract/filter'
import { type ConditionDraft } from './condition-draft.ts'
import { RequestPaths } from './request-paths.tsx'

type Props = {
  readonly conditions: readonly ConditionDraft[]
  readonly change: (conditions: readonly ConditionDraft[]) => void
  /** The meaning of an empty list here. */
  readonly empty: string
  /** The name of the list, for screen readers. */
  readonly label: string
  readonly disabled?: boolean
}

const BOX = 'h-8 min-w-0 rounded-field border border-line-2 bg-surface px-2.5 text-ink disabled:opacity-60'
const NEW: ConditionDraft = { path: '', op: 'equals', value: '' }

/** Conditions, one a line; all must match. */
export function Conditions({ conditions, change, empty, label, disabled = false }: Props): ReactElement {
  const set = (at: number, part: Partial<ConditionDraft>): void =>
    change(conditions.map((one, index) => (index === at ? { ...one, ...part } : one)))
  return (
    <div role="group" aria-label={label} className="@container mb-3.5">
      {conditions.length === 0 && <p className="mb-2 text-ink-3">{empty}</p>}
      {conditions.map(({ path, op, value }, index) => (
        <div
          key={index}
          className="mb-1.5 grid grid-cols-[34px_minmax(0,1fr)_112px_minmax(0,1fr)_28px] items-center gap-1.5 @max-[360px]:grid-cols-[34px_minmax(0,1fr)_28px]"
        >
          <span className="text-right text-data text-ink-3">{index === 0 ? 'if' : 'and'}</span>
          <input
            aria-label={`Path of condition ${index + 1}`}
            placeholder="data.amount"
            value={path}
            disabled={disabled}
            onChange={({ target }) => set(index, { path: target.value })}
            className={`${BOX} mono text-data`}
            spellCheck={false}
          />
          <select
            aria-label={`Comparison of condition ${index + 1}`}
            value={op}
            disabled={disabled}
            onChange={({ target }) => set(index, { op: CONDITION_OPS.find((one) => one === target.value) ?? 'equals' })}
            className={`${BOX} @max-[360px]:col-start-2 @max-[360px]:row-start-2`}
          >
            {CONDITION_OPS.map((one) => (
              <option key={one} value={one}>
                {signOf(one)}
              </option>
            ))}
          </select>
          {op === 'exists' ? (
            <span />
          ) : (
            <input
              aria-label={`Value of condition ${index + 1}`}
              placeholder={PLACEHOLDERS[op] ?? 'value'}
              value={value}
              disabled={disabled}
              onChange={({ target }) => set(index, { value: target.value })}
              className={`${BOX} mono text-data @max-[360px]:col-start-2 @max-[360px]:row-start-3`}
              spellCheck={false}
            />
          )}
          <IconButton
            label={`Remove condition ${index + 1}`}
            className="@max-[360px]:col-start-3 @max-[360px]:row-start-1"
            disabled={disabled}
            onClick={() => change(conditions.filter((_one, at) => at !== index))}
          >
            <X strokeWidth={1.5} />
          </IconButton>
        </div>
      ))}
      {conditions.length > 0 && <RequestPaths />}
      <Button
        icon={<Plus strokeWidth={1.5} />}
        disabled={disabled || conditions.length >= LIMITS.conditionsPerListMax}
        onClick={() => change([...conditions, NEW])}
      >
        Add a condition
      </Button>
    </div>
  )
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  in: 'eur, usd',
  regex: '^order\\.',
  gt: '1000',
  gte: '1000',
  lt: '1000',
  lte: '1000',
}
