import type { DestinationPreset } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { usePlace } from '../../../data/place.ts'
import { adminCurl } from '../../../parts/commands.ts'
import { MakeSink } from '../../../parts/make-sink.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { authOf } from './auth-draft.ts'
import { createBodyOf, createDraftOf, type CreateDraft } from './create-draft.ts'
import { CreateFields } from './create-fields.tsx'
import { PresetChoice } from './presets.tsx'

const FORM = 'create-destination'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }

/** Creates a destination: first the kind of receiver, then its URL. Its signing secret is shown once. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [preset, setPreset] = useState<DestinationPreset | undefined>()
  if (preset !== undefined)
    return <Settings preset={preset} onBack={() => setPreset(undefined)} onClose={onClose} onMade={onMade} />
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New destination"
      lead="Choose the receiver of your events. This server itself receives the events of a sink, so that you can test without a receiver."
      actions={
        <>
          <MakeSink onMade={onMade} />
          <Button onClick={onClose}>Cancel</Button>
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
}: Props & { readonly preset: DestinationPreset; readonly onBack: () => void }): ReactElement {
  const [draft, setDraft] = useState(() => createDraftOf(preset))
  const { project } = usePlace()
  const copy = useCopy()
  const create = useChange(['destinations'], (client, body: Parameters<typeof client.destinations.create>[0]) =>
    client.destinations.create(body),
  )
  const read = createBodyOf(draft)
  const body = 'body' in read ? read.body : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (body !== undefined) create.mutate(body)
  }
  if (create.data !== undefined) {
    const { destination, signing_secret } = create.data
    return (
      <Dialog
        open
        wide
        onClose={() => onMade(destination.id)}
        title={`${destination.name} is ready`}
        lead="Postroad now delivers every new event that it matches."
        actions={
          <Button kind="primary" onClick={() => onMade(destination.id)}>
            Done
          </Button>
        }
      >
        <SecretOnce
          label="Signing secret"
          secret={signing_secret}
          note="Your receiver checks deliveries with it. A signed-in person can reveal it again under Signing, and the audit log records that."
        />
        <p className="text-ink-2">
          Next: send it a test from its menu, or{' '}
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
    body === undefined ? undefined : { ...body, auth: authOf({ ...draft.auth, secret: 'YOUR_SECRET' }) }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={preset.id === 'generic' ? 'New destination' : `New destination: ${preset.name}`}
      lead={preset.setup === '' ? undefined : preset.setup}
      actions={
        <>
          <Button onClick={onBack}>Back</Button>
          <Button
            kind="quiet"
            className="mr-auto"
            disabled={secretless === undefined || draft.settings.url === ''}
            onClick={() =>
              void copy(
                adminCurl({ method: 'POST', project, path: 'destinations', body: secretless }),
                'Copied as curl, without secrets',
              )
            }
          >
            Copy as curl
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={FORM} disabled={body === undefined || create.isPending}>
            Create
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <CreateFields
          preset={preset}
          draft={draft}
          change={(part: Partial<CreateDraft>) => setDraft({ ...draft, ...part })}
        />
        {'problem' in read && (
          <p role="alert" className="mb-3.5 text-fail">
            {read.problem}
          </p>
        )}
        <RefusedLine error={create.error} />
      </form>
    </Dialog>
  )
}
