import type { ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { Field } from '../ui/field.tsx'
import { Choice } from './choice.tsx'
import { listIn } from './text-list.ts'

/** Every dataset (null), or some by name. */
export function DatasetChoice({
  label,
  datasets,
  change,
  disabled = false,
}: {
  readonly label: string
  readonly datasets: string | null
  readonly change: (datasets: string | null) => void
  readonly disabled?: boolean
}): ReactElement {
  const known = useAsk(['datasets', 'some'], (client, signal) => client.datasets.list({ limit: 50 }, { signal }))
  const named = listIn(datasets ?? '')
  const others =
    known.data?.datasets
      .map(({ name }) => name)
      .filter((name) => !named.includes(name))
      .slice(0, 12) ?? []
  return (
    <>
      <Choice
        label={label}
        disabled={disabled}
        of={[
          { id: 'all', label: 'All datasets' },
          { id: 'some', label: 'Only selected' },
        ]}
        at={datasets === null ? 'all' : 'some'}
        go={(id) => change(id === 'all' ? null : '')}
      />
      {datasets !== null && (
        <div className="-mt-1.5">
          <Field
            label="Datasets"
            placeholder="orders, payments"
            value={datasets}
            disabled={disabled}
            onChange={({ target }) => change(target.value)}
            className="mono text-data"
          />
          {others.length > 0 && (
            <div className="-mt-2 mb-3.5 flex flex-wrap gap-1">
              {others.map((name) => (
                <button
                  key={name}
                  type="button"
                  disabled={disabled}
                  onClick={() => change([...named, name].join(', '))}
                  className="h-6 rounded-chip border border-line px-2 text-data text-ink-2 hover:bg-hover"
                >
                  + {name}
                </button>
              ))}
            </div>
          )}
        </div>
      )}
    </>
  )
}
