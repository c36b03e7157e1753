import type { Condition } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { draftOf, sentOf, type ConditionDraft } from '../condition-draft.ts'
import { Conditions } from '../conditions.tsx'
/** Conditions with the texts that the person types; the step gets the parsed conditions. */
export function StepConditions({
  label,
  conditions,
  change,
  empty,
  disabled,
}: {
  readonly label: string
  readonly conditions: readonly Condition[]
  readonly change: (conditions: Condition[]) => void
  readonly empty: string
  readonly disabled: boolean
}): ReactElement {
  const [drafts, setDrafts] = useState<readonly ConditionDraft[]>(() => conditions.map(draftOf))
  return (
    <Conditions
      label={label}
      conditions={drafts}
      disabled={disabled}
      empty={empty}
      change={(next) => {
        setDrafts(next)
        change(next.map(conditionOf))
      }}
    />
  )
}

/** The condition as it is stored: an exact match is `{path, equals}`. */
function conditionOf(draft: ConditionDraft): Condition {
  const { path, op, value } = sentOf(draft)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sentOf gives each op the type of its value, and the server checks it
  return (
    op === 'equals' ? { path, equals: value } : { path, op, ...(value === undefined ? {} : { value }) }
  ) as Condition
}
