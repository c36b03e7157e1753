import type { ReactElement } from 'react'
import { Field, Select, TextArea } from '../../../ui/field.tsx'
import type { SourceDraft } from './draft.ts'

export type FieldsProps = {
  readonly draft: SourceDraft
  readonly change: (part: Partial<SourceDraft>) => void
  readonly disabled?: boolean
  /** Whether the server has stored a secret for the connection. */
  readonly isHeld?: boolean
}

type ConnectionProps = FieldsProps & { readonly hint?: string }

export function ConnectionField({
  draft,
  change,
  disabled = false,
  isHeld = false,
  hint = 'Use a read-only account.',
}: ConnectionProps): ReactElement {
  const scheme = draft.kind === 'mysql' ? 'mysql' : 'postgres'
  return (
    <Field
      label="Connection string"
      type="password"
      autoComplete="off"
      required={!isHeld}
      placeholder={isHeld ? 'stored; leave empty to keep it' : `${scheme}://user:password@host/database`}
      value={draft.connection}
      disabled={disabled}
      onChange={({ target }) => change({ connection: target.value })}
      className="mono text-data"
      hint={`Postroad encrypts the secret and never shows it again. ${hint}`}
    />
  )
}

export function EncryptionFields({ draft, change, disabled = false }: FieldsProps): ReactElement {
  return (
    <>
      <Select
        label="Encryption"
        value={draft.tlsMode}
        disabled={disabled}
        onChange={({ target }) => change({ tlsMode: target.value === 'off' ? 'off' : 'verify' })}
        hint="You can turn TLS off only for addresses that the operator allows."
      >
        <option value="verify">TLS with certificate verification</option>
        <option value="off">off</option>
      </Select>
      {draft.tlsMode === 'verify' && (
        <TextArea
          label="Certificates to trust"
          rows={2}
          placeholder="-----BEGIN CERTIFICATE-----"
          value={draft.ca}
          disabled={disabled}
          onChange={({ target }) => change({ ca: target.value })}
          hint="Optional. PEM. Trusted in addition to the public certificate authorities."
        />
      )}
    </>
  )
}
