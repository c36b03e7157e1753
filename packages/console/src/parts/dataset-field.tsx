import { useId, type ReactElement, type ReactNode } from 'react'
import { useAsk } from '../data/ask.ts'
import { Field } from '../ui/field.tsx'

type Props = {
  readonly label: string
  readonly value: string
  readonly change: (name: string) => void
  readonly disabled?: boolean
  readonly required?: boolean
  readonly hint?: ReactNode
}

/** The name of one dataset; the browser offers those that exist. */
export function DatasetField({ label, value, change, disabled = false, required = false, hint }: Props): ReactElement {
  const list = useId()
  const known = useAsk(['datasets', 'some'], (client, signal) => client.datasets.list({ limit: 50 }, { signal }))
  return (
    <>
      <Field
        label={label}
        list={list}
        placeholder="orders"
        value={value}
        disabled={disabled}
        required={required}
        onChange={({ target }) => change(target.value)}
        className="mono text-data"
        spellCheck={false}
        hint={hint}
      />
      <datalist id={list}>
        {known.data?.datasets.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </>
  )
}
