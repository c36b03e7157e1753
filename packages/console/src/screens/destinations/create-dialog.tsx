import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { To } from '../../data/go.tsx'
import { usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { SecretOnce } from '../../parts/secret-once.tsx'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { RefusedLine } from '../../ui/states.tsx'
import { bodyOf, NEW_DRAFT } from './draft.ts'
import { HeaderFields, RetryFields, WhatFields, WhereFields } from './form.tsx'

const FORM = 'create-destination'

/** Makes a destination: a URL is enough. Its signing secret is shown once. */
export function CreateDialog({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (id: string) => void }): ReactElement {
  const [draft, setDraft] = useState(NEW_DRAFT)
  const { project } = usePlace()
  const copy = useCopy()
  const create = useChange(['destinations'], (client, body: Parameters<typeof client.destinations.create>[0]) => client.destinations.create(body))
  const read = bodyOf(draft)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if ('body' in read) create.mutate(read.body)
  }
  if (create.data !== undefined) {
    const { destination, signing_secret } = create.data
    return (
      <Dialog open wide onClose={() => onMade(destination.id)} title={`${destination.name} is ready`} lead="Every new event that it matches is delivered to it from now on." actions={<Button kind="primary" onClick={() => onMade(destination.id)}>Done</Button>}>
        <SecretOnce label="Signing secret" secret={signing_secret} note="Your receiver checks deliveries with it. People who are signed in can look at it again under Signing; each look is written to the audit log." />
        <p className="text-ink-2">Next: <To screen="events" className="text-accent underline">send an event</To>, and watch it arrive here.</p>
      </Dialog>
    )
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New destination"
      lead="Events are posted to it as JSON, signed, and tried again until they arrive."
      actions={
        <>
          <Button kind="quiet" className="mr-auto" disabled={!('body' in read) || draft.url === ''} onClick={() => 'body' in read && void copy(adminCurl({ method: 'POST', project, path: 'destinations', body: read.body }), 'Copied as curl')}>Copy as curl</Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={FORM} disabled={!('body' in read) || create.isPending}>Create</Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <WhereFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
        <WhatFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
        <details className="mb-3.5 rounded-field border border-line px-3.5 open:pb-1">
          <summary className="flex h-9 cursor-default items-center font-control">Retries, headers and limits</summary>
          <div className="pt-2">
            <RetryFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
            <HeaderFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
          </div>
        </details>
        {'problem' in read && <p role="alert" className="mb-3.5 text-fail">{read.problem}</p>}
        <RefusedLine error={create.error} />
      </form>
    </Dialog>
  )
}
