import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Field, TextArea } from '../../../ui/field.tsx'
import type { SettingsDraft } from './draft.ts'

export function SettingsFields({
  draft,
  change,
  disabled = false,
}: {
  readonly draft: SettingsDraft
  readonly change: (part: Partial<SettingsDraft>) => void
  readonly disabled?: boolean
}): ReactElement {
  return (
    <>
      <TextArea
        label="Description"
        rows={2}
        maxLength={1_000}
        value={draft.description}
        disabled={disabled}
        onChange={({ target }) => change({ description: target.value })}
      />
      <Field
        label="Retention in days"
        type="number"
        min={1}
        max={LIMITS.datasetRetentionDaysMax}
        placeholder="default"
        value={draft.days}
        disabled={disabled}
        onChange={({ target }) => change({ days: target.value })}
        hint="Full days, plus the rest of today (UTC). A value longer than the plan’s retention has no effect. A shorter value erases older records within minutes."
      />
    </>
  )
}
