import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { bodyOf, type KeyBody, type KeyDraft } from './draft.ts'
import { KeyFields } from './form.tsx'
import { MadeDialog } from './made-dialog.tsx'

/** Creates a key. It is shown once. */
export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const { me } = usePlace()
  const [openedAt] = useState(() => Date.now())
  const [draft, setDraft] = useState<KeyDraft>({
    name: '',
    role: me.role === 'viewer' ? 'viewer' : 'developer',
    projectId: null,
    expiry: '90',
    addresses: '',
  })
  const create = useChange(['apiKeys'], (client, body: KeyBody) => client.apiKeys.create(body))
  const body = bodyOf(draft, openedAt)
  if (create.data !== undefined) return <MadeDialog made={create.data} onClose={() => onMade(create.data.api_key.id)} />
  return (
    <CreateWindow
      wide
      title="New API key"
      lead="For a program, a CI job or an agent that uses the API, the command line or MCP."
      read={body.name === '' ? { problem: 'Enter a name.' } : { body }}
      call={(sent) => ({ route: routes.apiKeys.create, body: sent })}
      submit={() => create.mutate(bodyOf(draft, Date.now()))}
      change={create}
      onClose={onClose}
    >
      <KeyFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </CreateWindow>
  )
}
