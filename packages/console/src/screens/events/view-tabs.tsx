import { Plus, Trash2 } from 'lucide-react'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useGo } from '../../data/go.tsx'
import { useKeys } from '../../shell/keys.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Views } from '../../ui/page.tsx'
import { isFiltered, VIEWS, type EventsSearch } from './search.ts'
import { isAt, useViews } from './views.ts'

/** The views that everybody has, and those of one's own: a filter with a name. */
export function ViewTabs({ search }: { readonly search: EventsSearch }): ReactElement {
  const go = useGo()
  const { views, save, remove } = useViews()
  const [isNaming, setNaming] = useState(false)
  const own = views.find((view) => isAt(view, search))
  const canSave = own === undefined && isFiltered(search)
  useKeys({ s: () => canSave && setNaming(true) })
  const all = [...VIEWS.map(({ id, label }) => ({ id: `:${id}`, label })), ...views.map(({ name }) => ({ id: name, label: name }))]
  return (
    <div className="flex min-w-0 items-center">
      <Views
        label="Views"
        of={all}
        at={own?.name ?? (all.find(({ id }) => id === `:${search.view ?? ''}`)?.id ?? '')}
        go={(id) => go('events', { ...views.find(({ name }) => name === id)?.search, ...(id.startsWith(':') ? { view: id.slice(1) } : {}) })}
      />
      {canSave && <IconButton label="Save this view (s)" onClick={() => setNaming(true)}><Plus strokeWidth={1.5} /></IconButton>}
      {own !== undefined && <IconButton label={`Remove the view ${own.name}`} onClick={() => remove(own.name)}><Trash2 strokeWidth={1.5} /></IconButton>}
      <NameDialog open={isNaming} onClose={() => setNaming(false)} onName={(name) => save({ name, search: { f: search.f, q: search.q, dataset: search.dataset, range: search.range, view: search.view } })} />
    </div>
  )
}

function NameDialog({ open, onClose, onName }: { readonly open: boolean; readonly onClose: () => void; readonly onName: (name: string) => void }): ReactElement {
  const [name, setName] = useState('')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (name.trim() === '') return
    onName(name.trim())
    setName('')
    onClose()
  }
  return (
    <Dialog open={open} onClose={onClose} title="Save this view" lead="It is kept in this browser. To share it, copy the address." actions={<><Button onClick={onClose}>Cancel</Button><Button kind="primary" type="submit" form="name-view">Save</Button></>}>
      <form id="name-view" onSubmit={submit}>
        <Field label="Name" value={name} maxLength={40} autoFocus onChange={({ target }) => setName(target.value)} />
      </form>
    </Dialog>
  )
}
