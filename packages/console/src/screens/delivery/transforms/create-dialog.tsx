import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import { SNIPPETS, type Snippet } from './snippets.ts'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }
type Body = { readonly name: string } & Pick<Snippet, 'code' | 'language'>

/** Creates a transform from a snippet. Its code is edited and tested afterwards. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [name, setName] = useState('')
  const [id, setId] = useState(SNIPPETS[0]?.id ?? '')
  const create = useChange(['transforms'], (client, body: Body) => client.transforms.create(body))
  const snippet = SNIPPETS.find((one) => one.id === id)
  const read: { readonly body: Body } | { readonly problem: string } =
    name.trim() === '' || snippet === undefined
      ? { problem: 'Enter a name.' }
      : { body: { name: name.trim(), language: snippet.language, code: snippet.code } }
  return (
    <CreateWindow
      title="New transform"
      lead="Choose the code to begin with. You can test and change it before a destination uses it."
      read={read}
      call={(body) => ({ method: 'POST', path: 'transforms', body })}
      submit={(body) => create.mutate(body, { onSuccess: ({ transform }) => onMade(transform.id) })}
      change={create}
      onClose={onClose}
    >
      <Field label="Name" value={name} onChange={({ target }) => setName(target.value)} required />
      <Select label="Begin with" value={id} onChange={({ target }) => setId(target.value)} hint={snippet?.text}>
        {SNIPPETS.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </Select>
      <pre
        tabIndex={0}
        aria-label="Code of the snippet"
        className="mono max-h-60 overflow-auto rounded-field border border-line bg-sunken p-3 text-data"
      >
        {snippet?.code}
      </pre>
    </CreateWindow>
  )
}
