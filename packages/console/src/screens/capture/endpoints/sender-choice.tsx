import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { sendersFor } from '../../../parts/preset-senders.ts'
import type { Sender } from '../../../parts/senders.ts'
import { Field } from '../../../ui/field.tsx'

/** All providers that the server has a preset for, with a search; any sender comes first. */
export function SenderChoice({ choose }: { readonly choose: (sender: Sender) => void }): ReactElement {
  const [search, setSearch] = useState('')
  const presets = useAsk(['sourcePresets'], (client, signal) => client.sourcePresets.list(undefined, { signal }))
  const senders = sendersFor(presets.data?.source_presets ?? (presets.isError ? 'failed' : 'pending'), search)
  return (
    <>
      <div className="sticky top-0 z-1 bg-raised pb-px">
        <Field
          label="Search senders"
          type="search"
          value={search}
          placeholder="Name or header"
          onChange={({ target }) => setSearch(target.value)}
        />
      </div>
      <ul aria-label="Senders" className="grid grid-cols-3 gap-2 max-md:grid-cols-2">
        {senders.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              onClick={() => choose(one)}
              className="flex h-full w-full flex-col rounded-field border border-line-2 bg-surface px-3 py-2 text-left hover:bg-sunken"
            >
              <b className="font-strong">{one.name}</b>
              <span className="mono w-full truncate text-label leading-4 text-ink-3">{one.text}</span>
            </button>
          </li>
        ))}
      </ul>
      {senders.length === 0 && !presets.isPending && (
        <p role="status" className="text-ink-2">
          No sender matches this name or header. Choose “Any sender” and set up verification yourself.
        </p>
      )}
    </>
  )
}
