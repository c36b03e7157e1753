import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllProviders } from '../../../data/automation-lists.ts'
import { To } from '../../../data/go.tsx'
import { Check, Field, Select, TextArea } from '../../../ui/field.tsx'
import { TOOL_TEXTS, TOOLS, type AgentDraft } from './draft.ts'

export type AgentFieldsProps = {
  readonly draft: AgentDraft
  readonly change: (part: Partial<AgentDraft>) => void
  readonly disabled?: boolean
}

export function TaskFields({ draft, change, disabled = false }: AgentFieldsProps): ReactElement {
  const { data: providers } = useAllProviders()
  const provider = providers?.find(({ id }) => id === draft.providerId)
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Triage"
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Select
          label="Provider"
          required
          value={draft.providerId}
          disabled={disabled}
          onChange={({ target }) => change({ providerId: target.value })}
          hint={
            providers?.length === 0 ? (
              <>
                This project has no provider yet.{' '}
                <To screen="ai-providers" search={{ new: '1' }} className="text-accent underline">
                  Create one
                </To>
              </>
            ) : undefined
          }
        >
          {draft.providerId === '' && <option value="">Choose one</option>}
          {draft.providerId !== '' && provider === undefined && (
            <option value={draft.providerId}>{draft.providerId}</option>
          )}
          {providers?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Select>
        <Field
          label="Model"
          maxLength={LIMITS.aiModelCharsMax}
          placeholder={provider === undefined ? 'Provider default' : `Provider default (${provider.default_model})`}
          value={draft.model}
          disabled={disabled}
          onChange={({ target }) => change({ model: target.value })}
          className="mono text-data"
        />
      </div>
      <TextArea
        label="Instructions"
        rows={6}
        required
        maxLength={LIMITS.agentInstructionsCharsMax}
        placeholder="Say how urgent the ticket is."
        value={draft.instructions}
        disabled={disabled}
        onChange={({ target }) => change({ instructions: target.value })}
        hint="The agent treats the record as data, never as instructions."
      />
      <TextArea
        label="Output schema"
        rows={5}
        placeholder='{"type":"object","properties":{"urgency":{"enum":["low","high"]}},"required":["urgency"]}'
        value={draft.schema}
        disabled={disabled}
        onChange={({ target }) => change({ schema: target.value })}
        hint="Optional. A JSON Schema for an object. Leave empty for text output."
      />
      <fieldset className="mb-3.5" disabled={disabled}>
        <legend className="mb-1 font-control">Tools</legend>
        {TOOLS.map((tool) => (
          <Check
            key={tool}
            label={
              <>
                {TOOL_TEXTS[tool]} <span className="mono text-meta text-ink-3">{tool}</span>
              </>
            }
            checked={draft.tools.includes(tool)}
            onChange={({ target }) =>
              change({
                tools: TOOLS.filter((one) => (one === tool ? target.checked : draft.tools.includes(one))),
              })
            }
          />
        ))}
        <p className="mt-1 text-data text-ink-3">
          Tools act in this project, with the permissions of the person who last saved the agent.
        </p>
      </fieldset>
    </>
  )
}

export function LimitFields({ draft, change, disabled = false }: AgentFieldsProps): ReactElement {
  const number = (
    label: string,
    member: 'maxSteps' | 'timeoutSeconds' | 'outputTokens' | 'monthlyTokens' | 'inputPrice' | 'outputPrice',
    more: { readonly max?: number; readonly placeholder?: string; readonly step?: string; readonly hint?: string },
  ): ReactElement => (
    <Field
      label={label}
      type="number"
      min={member.endsWith('Price') ? 0 : 1}
      value={draft[member]}
      disabled={disabled}
      onChange={({ target }) => change({ [member]: target.value })}
      {...more}
    />
  )
  return (
    <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
      {number('Model calls per run', 'maxSteps', { max: LIMITS.agentStepsMax })}
      {number('Attempt timeout, seconds', 'timeoutSeconds', { max: LIMITS.agentTimeoutSecondsMax })}
      {number('Tokens per response', 'outputTokens', { max: LIMITS.agentOutputTokensMax })}
      {number('Tokens per month', 'monthlyTokens', {
        max: LIMITS.agentTokensPerMonthMax,
        placeholder: 'no limit',
        hint: 'Postroad skips runs above the limit. Months are in UTC.',
      })}
      {number('Input token price (per million)', 'inputPrice', { placeholder: 'unknown', step: 'any' })}
      {number('Output token price (per million)', 'outputPrice', {
        placeholder: 'unknown',
        step: 'any',
        hint: 'Optional. In your currency. Enter both prices to see the cost of each run.',
      })}
    </div>
  )
}
