import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { bodyOf, NEW_PORTAL } from './draft.ts'
import { SettingsFields } from './settings-fields.tsx'

/** Creates a portal; a name is enough. Its looks follow, beside the preview. */
export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState(NEW_PORTAL)
  const create = useChange(['portals'], (client, body: Parameters<typeof client.portals.create>[0]) =>
    client.portals.create(body),
  )
  const read = bodyOf(draft)
  const body = 'body' in read ? read.body : undefined
  const isReady = body !== undefined && body.name !== ''
  return (
    <CreateWindow
      title="New portal"
      lead="A page where your customers manage their own destinations."
      read={isReady ? { body } : { problem: 'Enter a name.' }}
      call={(sent) => ({ method: 'POST', path: 'portals', body: sent })}
      submit={(sent) => create.mutate(sent, { onSuccess: ({ portal }) => onMade(portal.id) })}
      change={create}
      onClose={onClose}
    >
      <SettingsFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
      {'problem' in read && (
        <p role="alert" className="mb-3.5 text-fail">
          {read.problem}
        </p>
      )}
    </CreateWindow>
  )
}
