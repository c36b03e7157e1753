import type { RouteRequest, Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Field } from '../../../ui/field.tsx'
import { NEW_SETTINGS, settingsOf } from './draft.ts'
import { SettingsFields } from './settings-fields.tsx'

export function CreateDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const [name, setName] = useState('')
  const [draft, setDraft] = useState(NEW_SETTINGS)
  const create = useChange(['datasets'], (client, body: RouteRequest<Routes['datasets']['create']>) =>
    client.datasets.create(body),
  )
  const body = name.trim() === '' ? undefined : { name: name.trim(), ...settingsOf(draft).body }
  return (
    <CreateWindow
      title="New dataset"
      lead="Postroad also creates a dataset automatically with the first event that names it."
      read={body === undefined ? { problem: 'Enter a name.' } : { body }}
      call={(sent) => ({ method: 'POST', path: 'datasets', body: sent })}
      submit={(sent) => create.mutate(sent, { onSuccess: ({ dataset }) => onMade(dataset.id) })}
      change={create}
      onClose={onClose}
    >
      <Field
        label="Name"
        required
        maxLength={63}
        placeholder="orders"
        value={name}
        onChange={({ target }) => setName(target.value)}
        className="mono text-data"
        spellCheck={false}
        hint="Starts with a letter, then letters, digits and underscores. You cannot change the name later."
      />
      <SettingsFields draft={draft} change={(part) => setDraft({ ...draft, ...part })} />
    </CreateWindow>
  )
}
