import { LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Field, Select } from '../../../ui/field.tsx'
import { defaultsOf, isAdditive } from '../../../parts/additive-schemes.ts'
import { SCHEME_NAMES, SCHEMES } from '../../../parts/schemes.ts'
import type { VerificationDraft } from '../../../parts/verification-draft.ts'
import { AdditiveFields } from './additive-fields.tsx'

type Props = {
  readonly draft: VerificationDraft
  readonly set: (part: Partial<VerificationDraft>) => void
  readonly isHeld: boolean
  readonly disabled?: boolean
}

/** The signature check and its settings. */
export function VerificationFields({ draft, set, isHeld, disabled = false }: Props): ReactElement {
  const { label, text, hasTolerance } = SCHEMES[draft.scheme]
  return (
    <fieldset disabled={disabled}>
      <Select
        label="Verification scheme"
        value={draft.scheme}
        onChange={({ target }) => set(startOf(SCHEME_NAMES.find((one) => one === target.value) ?? 'none'))}
        hint={text}
      >
        {SCHEME_NAMES.map((one) => (
          <option key={one} value={one}>
            {SCHEMES[one].label}
          </option>
        ))}
      </Select>
      {draft.scheme === 'hmac' && <HmacFields draft={draft} set={set} />}
      {isAdditive(draft.scheme) && (
        <AdditiveFields scheme={draft.scheme} settings={draft.additive} change={(additive) => set({ additive })} />
      )}
      {hasTolerance && (
        <Field
          label="Tolerance, seconds"
          type="number"
          min={LIMITS.toleranceSecondsMin}
          max={LIMITS.toleranceSecondsMax}
          value={draft.toleranceSeconds}
          onChange={({ target }) => set({ toleranceSeconds: target.value })}
          hint={`The maximum difference between the timestamp and the current time: ${LIMITS.toleranceSecondsMin} to ${LIMITS.toleranceSecondsMax.toLocaleString('en')} seconds.`}
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
              ? 'A new secret replaces the stored one immediately. To change the secret without downtime, rotate it below.'
              : 'Write-only. The endpoint returns 401 to every request until you set the secret.'
          }
        />
      )}
    </fieldset>
  )
}

/** Another scheme starts with its defaults and without a secret. */
function startOf(scheme: VerificationDraft['scheme']): Partial<VerificationDraft> {
  return { scheme, secret: '', additive: isAdditive(scheme) ? defaultsOf(scheme) : {} }
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
        hint="Optional. The text before the digest."
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
