import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllAgents } from '../../../data/automation-lists.ts'
import { To } from '../../../data/go.tsx'
import { Conditions } from '../../../parts/conditions.tsx'
import { DatasetField } from '../../../parts/dataset-field.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import type { TriggerDraft } from './draft.ts'

export function TriggerFields({
  draft,
  change,
  disabled = false,
}: {
  readonly draft: TriggerDraft
  readonly change: (part: Partial<TriggerDraft>) => void
  readonly disabled?: boolean
}): ReactElement {
  const { data: agents } = useAllAgents()
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Ticket triage"
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <DatasetField
        label="Records in this dataset start the agent"
        required
        value={draft.dataset}
        disabled={disabled}
        change={(dataset) => change({ dataset })}
      />
      <Conditions
        label="Conditions"
        conditions={draft.conditions}
        disabled={disabled}
        change={(conditions) => change({ conditions })}
        empty="Every new record in the dataset starts a run."
      />
      <Select
        label="Agent"
        required
        value={draft.agentId}
        disabled={disabled}
        onChange={({ target }) => change({ agentId: target.value })}
        hint={
          agents?.length === 0 ? (
            <>
              This project has no agent yet.{' '}
              <To screen="agents" search={{ new: '1' }} className="text-accent underline">
                Create one
              </To>
            </>
          ) : undefined
        }
      >
        {draft.agentId === '' && <option value="">Choose one</option>}
        {draft.agentId !== '' && agents?.some(({ id }) => id === draft.agentId) !== true && (
          <option value={draft.agentId}>{draft.agentId}</option>
        )}
        {agents?.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Select>
      <DatasetField
        label="Store the output in"
        value={draft.outputDataset}
        disabled={disabled}
        change={(outputDataset) => change({ outputDataset })}
        hint="Optional. Leave empty to store the output only in the run."
      />
      <Field
        label="Maximum runs per minute"
        type="number"
        min={1}
        max={LIMITS.aiTriggerPerMinuteMax}
        value={draft.perMinute}
        disabled={disabled}
        onChange={({ target }) => change({ perMinute: target.value })}
        hint="Postroad queues runs over this limit and drops none."
      />
    </>
  )
}
