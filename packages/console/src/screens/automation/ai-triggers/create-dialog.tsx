import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { NEW_TRIGGER, triggerBodyOf, type TriggerBody } from './draft.ts'
import { TriggerFields } from './form.tsx'

export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [draft, setDraft] = useState(NEW_TRIGGER)
  const create = useChange(['triggers'], (client, body: TriggerBody) => client.triggers.create(body))
  const read = triggerBodyOf(draft)
  return (
    <CreateWindow
      wide
      title="New AI trigger"
      lead="Each new record that matches starts an agent run."
      read={read}
      call={(body) => ({ method: 'POST', path: 'triggers', body })}
      submit={(body) => create.mutate(body, { onSuccess: ({ trigger }) => onMade(trigger.id) })}
      change={create}
      onClose={onClose}
    >
      <TriggerFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </CreateWindow>
  )
}
