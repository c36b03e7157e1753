import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Check, Field } from '../../../ui/field.tsx'
import type { ProviderDraft } from './draft.ts'

/** The settings of a provider. `isHeld`: the server has stored a key. */
export function ProviderFields({
  draft,
  change,
  disabled = false,
  isHeld = false,
}: {
  readonly draft: ProviderDraft
  readonly change: (part: Partial<ProviderDraft>) => void
  readonly disabled?: boolean
  readonly isHeld?: boolean
}): ReactElement {
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Ollama"
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <Field
        label="Address"
        type="url"
        required={draft.kind === 'openai_compatible'}
        placeholder={draft.kind === 'openai_compatible' ? 'http://127.0.0.1:11434/v1' : 'the provider’s address'}
        value={draft.baseUrl}
        disabled={disabled}
        onChange={({ target }) => change({ baseUrl: target.value })}
        className="mono text-data"
        hint="The URL up to /chat/completions or /messages. A private address works only if the operator allows it. Postroad sends the key only to this address."
      />
      <Field
        label="API key"
        type="password"
        autoComplete="new-password"
        placeholder={isHeld ? 'stored; leave empty to keep it' : 'none'}
        value={draft.apiKey}
        disabled={disabled || draft.removesKey}
        onChange={({ target }) => change({ apiKey: target.value })}
        hint="Postroad encrypts the key and never shows it again. Leave empty if the server needs no key."
      />
      {isHeld && (
        <div className="-mt-1 mb-3.5">
          <Check
            label="Remove the stored key"
            checked={draft.removesKey}
            disabled={disabled}
            onChange={({ target }) => change({ removesKey: target.checked })}
          />
        </div>
      )}
      <Field
        label="Default model"
        required
        maxLength={LIMITS.aiModelCharsMax}
        placeholder="llama3.2"
        value={draft.model}
        disabled={disabled}
        onChange={({ target }) => change({ model: target.value })}
        className="mono text-data"
        hint="Agents without a model use this one."
      />
      <div className="mb-3.5">
        <Check
          label="The server enforces a JSON Schema. If off, Postroad requests the output as a tool call."
          checked={draft.structured}
          disabled={disabled}
          onChange={({ target }) => change({ structured: target.checked })}
        />
      </div>
    </>
  )
}
