import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Conditions } from '../../../parts/conditions.tsx'
import { Mappings } from '../../../parts/mappings.tsx'
import { Field } from '../../../ui/field.tsx'
import type { RuleDraft } from './draft.ts'

export type FormProps = {
  readonly draft: RuleDraft
  readonly change: (part: Partial<RuleDraft>) => void
  readonly disabled?: boolean
}

export function NameField({ draft, change, disabled = false }: FormProps): ReactElement {
  return (
    <Field
      label="Name"
      required
      maxLength={LIMITS.nameCharsMax}
      placeholder="Large orders"
      value={draft.name}
      disabled={disabled}
      onChange={({ target }) => change({ name: target.value })}
      hint="Senders see this name in the response, and each matching event shows it."
    />
  )
}

/** The events that a rule matches. */
export function WhenFields({ draft, change, disabled = false }: FormProps): ReactElement {
  return (
    <Conditions
      label="Conditions"
      conditions={draft.conditions}
      change={(conditions) => change({ conditions })}
      disabled={disabled}
      empty="Every event matches. Add a condition to match only some."
    />
  )
}

/** The fields and the dataset of its records. */
export function ThenFields({ draft, change, disabled = false }: FormProps): ReactElement {
  return (
    <>
      <Field
        label="Dataset"
        required
        placeholder="large_orders"
        value={draft.dataset}
        disabled={disabled}
        onChange={({ target }) => change({ dataset: target.value })}
        className="mono text-data"
        hint="Postroad stores the matching records in this dataset, and creates it with the first record. Destinations select events by dataset."
      />
      <Mappings mappings={draft.mappings} change={(mappings) => change({ mappings })} disabled={disabled} />
    </>
  )
}
