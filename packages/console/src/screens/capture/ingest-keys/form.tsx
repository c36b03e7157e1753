import { INGEST_KEY_SCOPES, LIMITS } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { IngestKey } from '../../../data/lists.ts'
import { CustomerFields } from '../../../parts/customer-fields.tsx'
import { DatasetChoice } from '../../../parts/dataset-choice.tsx'
import { Check, Field, TextArea } from '../../../ui/field.tsx'
import type { KeyDraft } from './draft.ts'

const SCOPE_WORDS: Readonly<Record<IngestKey['scopes'][number], { readonly label: string; readonly text: string }>> = {
  ingest: { label: 'Send events', text: 'to any ingest URL' },
  stream: { label: 'Read the stream', text: 'receive events from the allowed datasets live' },
}

/** The scopes of a key, in a word or two. */
export function scopesText(scopes: IngestKey['scopes']): string {
  if (scopes.length > 1) return 'send and read'
  return scopes[0] === 'stream' ? 'read only' : 'send only'
}

type Props = {
  readonly draft: KeyDraft
  readonly change: (part: Partial<KeyDraft>) => void
  readonly disabled?: boolean
}

/** The name of a key, its scopes, the addresses that may use it, and the place of the customer. */
export function KeyFields({ draft, change, disabled = false }: Props): ReactElement {
  const { name, scopes, datasets, addresses, customer } = draft
  return (
    <fieldset disabled={disabled}>
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Checkout service"
        value={name}
        onChange={({ target }) => change({ name: target.value })}
        hint="Name the program that uses this key. Create a separate key for each program, so that you can revoke them separately."
      />
      <fieldset className="mb-3.5">
        <legend className="mb-1 font-control">Scopes</legend>
        {INGEST_KEY_SCOPES.map((scope) => (
          <Check
            key={scope}
            checked={scopes.includes(scope)}
            onChange={({ target }) =>
              change({
                scopes: INGEST_KEY_SCOPES.filter((one) => (one === scope ? target.checked : scopes.includes(one))),
              })
            }
            label={
              <>
                {SCOPE_WORDS[scope].label}: <span className="text-ink-3">{SCOPE_WORDS[scope].text}</span>
              </>
            }
          />
        ))}
      </fieldset>
      <DatasetChoice
        label="Allowed datasets"
        datasets={datasets}
        change={(next) => change({ datasets: next })}
        disabled={disabled}
      />
      <TextArea
        label="IP allowlist"
        rows={2}
        placeholder="Any address"
        value={addresses}
        onChange={({ target }) => change({ addresses: target.value })}
        hint="IPv4 and IPv6 addresses and CIDR ranges such as 203.0.113.0/24, one per line. Leave empty to allow any address."
      />
      <CustomerFields draft={customer} change={(next) => change({ customer: next })} disabled={disabled} />
    </fieldset>
  )
}
