import { LIMITS } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { Field, Select, TextArea } from '../../ui/field.tsx'

/** A text that is not JSON, and the sentence about it. The editor stores both while another step is open. */
export type Fault = { readonly text: string; readonly said: string }

/** A member that is any JSON, or absent. */
export function JsonMember({
  label,
  value,
  change,
  fault,
  setFault,
  hint,
  disabled,
}: {
  readonly label: string
  readonly value: unknown
  readonly change: (value: unknown) => void
  readonly fault: Fault | undefined
  readonly setFault: (fault: Fault | undefined) => void
  readonly hint: string
  readonly disabled: boolean
}): ReactElement {
  const [text, setText] = useState(() => fault?.text ?? (value === undefined ? '' : JSON.stringify(value, null, 2)))
  const read = (next: string): void => {
    setText(next)
    try {
      change(next.trim() === '' ? undefined : JSON.parse(next))
      setFault(undefined)
    } catch {
      setFault({ text: next, said: `${label} is not valid JSON. Put text with templates in double quotes.` })
    }
  }
  return (
    <TextArea
      label={label}
      rows={4}
      value={text}
      disabled={disabled}
      aria-invalid={fault !== undefined}
      onChange={({ target }) => read(target.value)}
      hint={fault?.said ?? hint}
    />
  )
}

/** A whole number that the person types. Other input is sent too, and the server names the step. */
export function NumberMember({
  label,
  value,
  change,
  min,
  max,
  hint,
  disabled,
  placeholder,
}: {
  readonly label: string
  readonly value: number | undefined
  readonly change: (value: number | undefined) => void
  readonly min: number
  readonly max: number
  readonly hint?: string
  readonly disabled: boolean
  readonly placeholder?: string
}): ReactElement {
  return (
    <Field
      label={label}
      type="number"
      min={min}
      max={max}
      value={value === undefined || Number.isNaN(value) ? '' : value}
      disabled={disabled}
      placeholder={placeholder}
      onChange={({ target }) => change(target.value === '' ? undefined : Number(target.value))}
      hint={hint}
    />
  )
}

const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const
type Unit = keyof typeof UNITS

/** A length of time with its unit. */
export function LengthMember({
  label,
  seconds,
  change,
  disabled,
}: {
  readonly label: string
  readonly seconds: number
  readonly change: (seconds: number) => void
  readonly disabled: boolean
}): ReactElement {
  const [unit, setUnit] = useState<Unit>(
    () => (['days', 'hours', 'minutes'] as const).find((one) => seconds > 0 && seconds % UNITS[one] === 0) ?? 'seconds',
  )
  const count = seconds / UNITS[unit]
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_120px] gap-2">
      <Field
        label={label}
        type="number"
        min={1}
        max={Math.floor(LIMITS.workflowSecondsMax / UNITS[unit])}
        value={Number.isFinite(count) && count > 0 ? count : ''}
        disabled={disabled}
        onChange={({ target }) => change(Math.round(Number(target.value) * UNITS[unit]))}
      />
      <Select
        label="Unit"
        value={unit}
        disabled={disabled}
        onChange={({ target }) => {
          const next = (['seconds', 'minutes', 'hours', 'days'] as const).find((one) => one === target.value) ?? unit
          setUnit(next)
          change(Math.round(count * UNITS[next]))
        }}
      >
        {Object.keys(UNITS).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </Select>
    </div>
  )
}
