import type { AdditiveScheme } from '@postroad/contract'
import type { ReactElement } from 'react'
import { ADDITIVE_FIELDS, valueOf, type AdditiveSettings } from '../../../parts/additive-schemes.ts'
import { Field, Select } from '../../../ui/field.tsx'

type Props = {
  readonly scheme: AdditiveScheme
  readonly settings: AdditiveSettings
  readonly change: (settings: AdditiveSettings) => void
}

/** The settings of an additive scheme. */
export function AdditiveFields({ scheme, settings, change }: Props): ReactElement {
  return (
    <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
      {ADDITIVE_FIELDS[scheme].map((field) => {
        const { name, label, hint, options } = field
        const text = String(settings[name] ?? '')
        const set = (value: string): void => change({ ...settings, [name]: valueOf(field, value) })
        const help = hint === undefined ? {} : { hint }
        return options === undefined ? (
          <Field
            key={name}
            label={label}
            {...help}
            value={text}
            onChange={({ target }) => set(target.value)}
            className="mono text-data"
          />
        ) : (
          <Select key={name} label={label} {...help} value={text} onChange={({ target }) => set(target.value)}>
            {options.map((option) => (
              <option key={option} value={option}>
                {option}
              </option>
            ))}
          </Select>
        )
      })}
    </div>
  )
}
