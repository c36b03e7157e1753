import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { adminCurl } from '../../../parts/commands.ts'
import { Button } from '../../../ui/button.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { bodyOf, NEW_KEY } from './draft.ts'
import { KeyFields } from './form.tsx'
import { MadeDialog } from './made-dialog.tsx'

const FORM = 'create-ingest-key'

/** Creates a key; a name is enough. The key is shown once. */
export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState(NEW_KEY)
  const [isSigned, setSigned] = useState(false)
  const { project } = usePlace()
  const copy = useCopy()
  const create = useChange(['ingestKeys'], (client, body: Parameters<typeof client.ingestKeys.create>[0]) =>
    client.ingestKeys.create(body),
  )
  const read = bodyOf(draft)
  const body = 'body' in read ? { ...read.body, require_signature: isSigned } : undefined
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (body !== undefined) create.mutate(body)
  }
  if (create.data !== undefined)
    return <MadeDialog made={create.data} onClose={() => onMade(create.data.ingest_key.id)} />
  const isReady = body !== undefined && body.name !== ''
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New ingest key"
      lead="A key for your own programs: they send events with it, or read the stream."
      actions={
        <>
          <Button
            kind="quiet"
            className="mr-auto"
            disabled={!isReady}
            onClick={() =>
              void copy(adminCurl({ method: 'POST', project, path: 'ingest-keys', body }), 'Copied as curl')
            }
          >
            Copy as curl
          </Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={FORM} disabled={!isReady || create.isPending}>
            Create
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <KeyFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
        <div className="mb-3.5">
          <Check
            checked={isSigned}
            onChange={({ target }) => setSigned(target.checked)}
            label={
              <>
                Require a signature{' '}
                <span className="text-ink-3">each event is signed too, so a stolen key alone cannot send</span>
              </>
            }
          />
        </div>
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
