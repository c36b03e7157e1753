import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { DatasetChoice } from '../../../parts/dataset-choice.tsx'
import { Field, TextArea } from '../../../ui/field.tsx'
import type { KeyDraft } from './draft.ts'

export function KeyFields({
  draft,
  change,
  disabled = false,
}: {
  readonly draft: KeyDraft
  readonly change: (part: Partial<KeyDraft>) => void
  readonly disabled?: boolean
}): ReactElement {
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Warehouse"
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <DatasetChoice
        label="Allowed datasets"
        datasets={draft.datasets}
        disabled={disabled}
        change={(datasets) => change({ datasets })}
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Field
          label="Requests per 10 seconds"
          type="number"
          min={1}
          max={LIMITS.dataKeyRequestsMax}
          value={draft.requests}
          disabled={disabled}
          onChange={({ target }) => change({ requests: target.value })}
          hint="The limit applies to each server process."
        />
        <Field
          label="Expires"
          type="datetime-local"
          value={draft.expires}
          disabled={disabled}
          onChange={({ target }) => change({ expires: target.value })}
          hint="Optional. In your time zone. Leave empty for a key that never expires."
        />
      </div>
      <TextArea
        label="Addresses"
        rows={2}
        placeholder="Any address"
        value={draft.addresses}
        disabled={disabled}
        onChange={({ target }) => change({ addresses: target.value })}
        hint="Optional. Addresses and ranges that can use the key, such as 203.0.113.0/24, one per line. Leave empty to allow any address."
      />
    </>
  )
}
