import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Field, Select } from '../../../ui/field.tsx'
import { SCHEME_NAMES, SCHEMES } from '../../../parts/schemes.ts'
import type { VerificationDraft } from '../../../parts/verification-draft.ts'

type Props = {
  readonly draft: VerificationDraft
  readonly set: (part: Partial<VerificationDraft>) => void
  readonly isHeld: boolean
  readonly disabled?: boolean
}

/** Which signature check, and what it needs to know. */
export function VerificationFields({ draft, set, isHeld, disabled = false }: Props): ReactElement {
  const { label, text, hasTolerance } = SCHEMES[draft.scheme]
  return (
    <fieldset disabled={disabled}>
      <Select
        label="Who may send"
        value={draft.scheme}
        onChange={({ target }) =>
          set({ scheme: SCHEME_NAMES.find((one) => one === target.value) ?? 'none', secret: '' })
        }
        hint={text}
      >
        {SCHEME_NAMES.map((one) => (
          <option key={one} value={one}>
            {SCHEMES[one].label}
          </option>
        ))}
      </Select>
      {draft.scheme === 'hmac' && <HmacFields draft={draft} set={set} />}
      {hasTolerance && (
        <Field
          label="Tolerance"
          type="number"
          min={LIMITS.toleranceSecondsMin}
          max={LIMITS.toleranceSecondsMax}
          value={draft.toleranceSeconds}
          onChange={({ target }) => set({ toleranceSeconds: target.value })}
          hint={`Seconds that the timestamp may be away from now, ${LIMITS.toleranceSecondsMin} to ${LIMITS.toleranceSecondsMax.toLocaleString('en')}.`}
        />
      )}
      {draft.scheme !== 'none' && (
        <Field
          label="Secret"
          type="password"
          autoComplete="new-password"
          value={draft.secret}
          placeholder={isHeld ? 'stored; leave empty to keep it' : `The secret that ${label} signs with`}
          onChange={({ target }) => set({ secret: target.value })}
          hint={
            isHeld
              ? 'What you write here replaces the stored secret at once. To change it without a gap, rotate it below.'
              : 'Write-only. Until it is set, every request is answered 401.'
          }
        />
      )}
    </fieldset>
  )
}

function HmacFields({ draft, set }: Pick<Props, 'draft' | 'set'>): ReactElement {
  return (
    <div className="grid grid-cols-2 gap-x-4 max-md:grid-cols-1">
      <Field
        label="Header"
        value={draft.header}
        onChange={({ target }) => set({ header: target.value })}
        className="mono text-data"
      />
      <Field
        label="Prefix"
        value={draft.prefix}
        placeholder="sha256="
        onChange={({ target }) => set({ prefix: target.value })}
        className="mono text-data"
        hint="The text before the digest, if any."
      />
      <Select
        label="Algorithm"
        value={draft.algorithm}
        onChange={({ target }) => set({ algorithm: target.value === 'sha1' ? 'sha1' : 'sha256' })}
      >
        <option value="sha256">SHA-256</option>
        <option value="sha1">SHA-1</option>
      </Select>
      <Select
        label="Encoding"
        value={draft.encoding}
        onChange={({ target }) => set({ encoding: target.value === 'base64' ? 'base64' : 'hex' })}
      >
        <option value="hex">hex</option>
        <option value="base64">base64</option>
      </Select>
    </div>
  )
}
