import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { withoutValues } from '../../../parts/headers-text.ts'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { authOf } from './auth-draft.ts'
import { createBodyOf, createDraftOf, NO_URL, type CreateDraft } from './create-draft.ts'
import { CreateFields } from './create-fields.tsx'
import { PresetChoice, type Preset } from './presets.tsx'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }

/** Creates a destination: first the kind of receiver, then its URL. Its signing secret is shown once. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [preset, setPreset] = useState<Preset | undefined>()
  if (preset !== undefined)
    return <Settings preset={preset} onBack={() => setPreset(undefined)} onClose={onClose} onMade={onMade} />
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New destination"
      lead="Choose where to send your events. To test without a receiver, create a sink: this server receives the deliveries."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <MakeSink onMade={onMade} />
        </>
      }
    >
      <PresetChoice go={setPreset} />
    </Dialog>
  )
}

function Settings({
  preset,
  onBack,
  onClose,
  onMade,
}: Props & { readonly preset: Preset; readonly onBack: () => void }): ReactElement {
  const [draft, setDraft] = useState(() => createDraftOf(preset))
  const create = useChange(['destinations'], (client, body: Parameters<typeof client.destinations.create>[0]) =>
    client.destinations.create(body),
  )
  const read = createBodyOf(draft)
  const body = 'body' in read ? read.body : undefined
  if (create.data !== undefined) {
    const { destination, signing_secret } = create.data
    return (
      <Dialog
        open
        wide
        onClose={() => onMade(destination.id)}
        title={`${destination.name} is ready`}
        lead="Postroad now delivers every matching new event."
        actions={
          <Button kind="primary" onClick={() => onMade(destination.id)}>
            Done
          </Button>
        }
      >
        <SecretOnce
          label="Signing secret"
          secret={signing_secret}
          note="Your receiver verifies deliveries with this secret. A signed-in member can reveal it again under Signing. The audit log records each reveal."
        />
        <p className="text-ink-2">
          Next, send a test from the destination menu, or{' '}
          <To screen="events" className="text-accent underline">
            send an event
          </To>{' '}
          and watch it arrive here.
        </p>
      </Dialog>
    )
  }
  // The copied command goes into the history of a shell, so it contains no secret.
  const secretless =
    body === undefined
      ? undefined
      : {
          ...body,
          headers: ownHeadersHidden(body.headers ?? {}, preset.settings.headers),
          auth: authOf({ ...draft.auth, secret: 'YOUR_SECRET' }),
        }
  return (
    <CreateWindow
      wide
      title={preset.id === 'generic' ? 'New destination' : `New destination: ${preset.name}`}
      lead={preset.setup === '' ? undefined : preset.setup}
      read={read}
      call={() => ({ method: 'POST', path: 'destinations', body: secretless })}
      submit={(sent) => create.mutate(sent)}
      change={create}
      onClose={onClose}
      onBack={onBack}
    >
      <CreateFields
        preset={preset}
        draft={draft}
        change={(part: Partial<CreateDraft>) => setDraft({ ...draft, ...part })}
      />
      {'problem' in read && read.problem !== NO_URL && (
        <p role="alert" className="mb-3.5 text-fail">
          {read.problem}
        </p>
      )}
    </CreateWindow>
  )
}

type HeaderValues = Readonly<Record<string, string | null>>

/** The headers without the values that a person typed; the values of the preset are public. */
// oxlint-disable-next-line max-params -- the headers of the draft and of its preset
function ownHeadersHidden(headers: Readonly<Record<string, unknown>>, known: HeaderValues): HeaderValues {
  return Object.fromEntries(
    Object.entries(withoutValues(headers)).map(([name, hidden]) => [
      name,
      headers[name] === known[name] ? (known[name] ?? null) : hidden,
    ]),
  )
}
