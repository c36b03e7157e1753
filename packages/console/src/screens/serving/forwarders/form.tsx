import { LIMITS, type ForwarderPreset } from '@postroad/contract'
import type { ReactElement } from 'react'
import { placeholdersHint } from '../../../parts/headers-text.ts'
import { Check, Field, Select, TextArea } from '../../../ui/field.tsx'
import { CONTENT, CONTENT_TEXTS, SIGNALS, type ForwarderDraft } from './draft.ts'

export type FieldsProps = {
  readonly draft: ForwarderDraft
  readonly change: (part: Partial<ForwarderDraft>) => void
  readonly disabled?: boolean
}

export function ReceiverFields({
  draft,
  change,
  disabled = false,
  preset,
}: FieldsProps & { readonly preset: ForwarderPreset | undefined }): ReactElement {
  const optional = preset?.headers.filter(({ required }) => !required) ?? []
  return (
    <>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Collector"
        value={draft.name}
        disabled={disabled}
        onChange={({ target }) => change({ name: target.value })}
      />
      <Field
        label="Endpoint"
        required
        value={draft.endpoint}
        disabled={disabled}
        onChange={({ target }) => change({ endpoint: target.value })}
        className="mono text-data"
        spellCheck={false}
        hint="The base URL. Use https. Plain http works only for addresses that the operator allows. Postroad appends /v1/logs and /v1/traces."
      />
      <TextArea
        label="Headers"
        rows={3}
        value={draft.headers}
        disabled={disabled}
        onChange={({ target }) => change({ headers: target.value })}
        hint={
          <>
            One per line. Postroad encrypts the values and never shows them again.
            {placeholdersHint(draft.headers)}
            {optional.length > 0 && ` Optional: ${optional.map(({ name, form }) => `${name}: ${form}`).join(', ')}.`}
          </>
        }
      />
      <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
        <Select
          label="Encoding"
          value={draft.encoding}
          disabled={disabled}
          onChange={({ target }) => change({ encoding: target.value === 'json' ? 'json' : 'protobuf' })}
          hint={
            preset !== undefined && !preset.encodings.includes(draft.encoding)
              ? `${preset.name} documents only ${preset.encodings.join(' and ')}.`
              : undefined
          }
        >
          <option value="protobuf">protobuf</option>
          <option value="json">JSON</option>
        </Select>
        <div className="pt-[30px] max-md:pt-0 max-md:pb-3.5">
          <Check
            label="Compress with gzip"
            checked={draft.gzip}
            disabled={disabled}
            onChange={({ target }) => change({ gzip: target.checked })}
          />
        </div>
      </div>
      <fieldset className="mb-3.5" disabled={disabled}>
        <legend className="mb-1 font-control">Signals</legend>
        <div className="flex gap-5">
          {SIGNALS.map((signal) => (
            <Check
              key={signal}
              label={signal}
              checked={draft.signals.includes(signal)}
              onChange={({ target }) =>
                change({
                  signals: SIGNALS.filter((one) => (one === signal ? target.checked : draft.signals.includes(one))),
                })
              }
            />
          ))}
        </div>
      </fieldset>
    </>
  )
}

export function ContentFields({ draft, change, disabled = false }: FieldsProps): ReactElement {
  return (
    <>
      <fieldset className="mb-3.5" disabled={disabled}>
        <legend className="mb-1 font-control">Content</legend>
        {CONTENT.map((kind) => (
          <Check
            key={kind}
            label={CONTENT_TEXTS[kind]}
            checked={draft.content.includes(kind)}
            onChange={({ target }) =>
              change({
                content: CONTENT.filter((one) => (one === kind ? target.checked : draft.content.includes(one))),
              })
            }
          />
        ))}
      </fieldset>
      <Field
        label="Event sampling, percent"
        type="number"
        min={0}
        max={100}
        step="any"
        value={draft.percent}
        disabled={disabled}
        onChange={({ target }) => change({ percent: target.value })}
        hint="Sampling is by trace ID, so an event is sent completely or not at all. Rejected requests and audit rows are always sent."
      />
      <div className="mb-3.5 flex flex-col gap-1">
        <Check
          label="Always send failed attempts and runs"
          checked={draft.alwaysErrors}
          disabled={disabled}
          onChange={({ target }) => change({ alwaysErrors: target.checked })}
        />
        <Check
          label="Include headers and the start of the body in logs of accepted requests"
          checked={draft.payloads}
          disabled={disabled}
          onChange={({ target }) => change({ payloads: target.checked })}
        />
      </div>
      {draft.payloads && (
        <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
          <Field
            label="Headers to hide"
            placeholder="x-customer"
            value={draft.redactHeaders}
            disabled={disabled}
            onChange={({ target }) => change({ redactHeaders: target.value })}
            className="mono text-data"
            hint="Optional. Header names, separated by commas. Their values are redacted."
          />
          <Field
            label="Fields to hide"
            placeholder="email, iban"
            value={draft.redactFields}
            disabled={disabled}
            onChange={({ target }) => change({ redactFields: target.value })}
            className="mono text-data"
            hint="Optional. At any depth. If set, bodies that are not JSON are omitted."
          />
        </div>
      )}
    </>
  )
}
