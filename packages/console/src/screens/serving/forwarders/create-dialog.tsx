import type { ForwarderPreset } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { withoutValues } from '../../../parts/headers-text.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Loading, Refused } from '../../../ui/states.tsx'
import { forwarderBodyOf, newDraft, type ForwarderBody } from './draft.ts'
import { ContentFields, ReceiverFields } from './form.tsx'
import { TestPart } from './test-part.tsx'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }

/** Creates a forwarder: first the receiver, then its settings, with a test before it is saved. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [preset, setPreset] = useState<ForwarderPreset | undefined>()
  const asked = useForwarderPresets()
  if (preset !== undefined)
    return <Settings preset={preset} onBack={() => setPreset(undefined)} onClose={onClose} onMade={onMade} />
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New forwarder"
      lead="A forwarder sends new logs and traces from this project to a receiver through OTLP over HTTP."
      actions={<Button onClick={onClose}>Cancel</Button>}
    >
      {asked.data === undefined ? (
        asked.error === null ? (
          <Loading rows={4} />
        ) : (
          <Refused error={asked.error} again={asked.refetch} />
        )
      ) : (
        <ul className="grid grid-cols-2 gap-2 max-md:grid-cols-1">
          {asked.data.map((one, index) => (
            <li key={one.id}>
              <button
                type="button"
                data-first={index === 0 ? '' : undefined}
                onClick={() => setPreset(one)}
                className="h-full w-full rounded-field border border-line-2 px-3.5 py-2.5 text-left hover:bg-hover"
              >
                <b className="block font-strong">{one.name}</b>
                <span className="mono block truncate text-data text-ink-3">{one.endpoint}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  )
}

/** The receivers that Postroad knows. */
export function useForwarderPresets() {
  return useAsk(
    ['forwarders', 'presets'],
    async (client, signal) => (await client.forwarders.presets({}, { signal })).forwarder_presets,
  )
}

function Settings({
  preset,
  onBack,
  onClose,
  onMade,
}: Props & { readonly preset: ForwarderPreset; readonly onBack: () => void }): ReactElement {
  const [draft, setDraft] = useState(() => newDraft(preset))
  const create = useChange(['forwarders'], (client, body: ForwarderBody) => client.forwarders.create(body))
  const read = forwarderBodyOf(draft)
  const fields = { draft, change: (part: Partial<typeof draft>) => setDraft({ ...draft, ...part }) }
  return (
    <CreateWindow
      wide
      title={`New forwarder: ${preset.name}`}
      lead={preset.note}
      read={read}
      call={(body) => ({
        method: 'POST',
        path: 'forwarders',
        body: { ...body, headers: withoutValues(body.headers ?? {}) },
      })}
      submit={(body) => create.mutate(body, { onSuccess: ({ forwarder }) => onMade(forwarder.id) })}
      change={create}
      onClose={onClose}
      onBack={onBack}
    >
      {preset.docs_url !== null && (
        <p className="mb-3">
          <a
            href={preset.docs_url}
            target="_blank"
            rel="noreferrer"
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            {preset.id === 'generic' ? 'OTLP over HTTP' : `${preset.name} documentation`}
          </a>
        </p>
      )}
      <ReceiverFields {...fields} preset={preset} />
      <TestPart draft={draft} />
      <ContentFields {...fields} />
    </CreateWindow>
  )
}
