import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Check } from '../../../ui/field.tsx'
import { bodyOf, NEW_KEY } from './draft.ts'
import { KeyFields } from './form.tsx'
import { MadeDialog } from './made-dialog.tsx'

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
  const create = useChange(['ingestKeys'], (client, body: Parameters<typeof client.ingestKeys.create>[0]) =>
    client.ingestKeys.create(body),
  )
  const read = bodyOf(draft)
  const body = 'body' in read ? { ...read.body, require_signature: isSigned } : undefined
  if (create.data !== undefined)
    return <MadeDialog made={create.data} onClose={() => onMade(create.data.ingest_key.id)} />
  const isReady = body !== undefined && body.name !== ''
  return (
    <CreateWindow
      wide
      title="New ingest key"
      lead="A key that your programs use to send events or read the stream."
      read={isReady ? { body } : { problem: 'Enter a name.' }}
      call={(sent) => ({ method: 'POST', path: 'ingest-keys', body: sent })}
      submit={(made) => create.mutate(made)}
      change={create}
      onClose={onClose}
    >
      <KeyFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
      <div className="mb-3.5">
        <Check
          checked={isSigned}
          onChange={({ target }) => setSigned(target.checked)}
          label={
            <>
              Require a signature:{' '}
              <span className="text-ink-3">each event must be signed, so a stolen key alone cannot send events</span>
            </>
          }
        />
      </div>
      {'problem' in read && (
        <p role="alert" className="mb-3.5 text-fail">
          {read.problem}
        </p>
      )}
    </CreateWindow>
  )
}
