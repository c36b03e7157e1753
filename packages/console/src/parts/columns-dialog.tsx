import { Columns3 } from 'lucide-react'
import { useState, type FormEvent, type ReactElement } from 'react'
import { Button, IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'

type Props = {
  /** Every column of the list, with its id and label. */
  readonly all: readonly { readonly id: string; readonly label: string }[]
  readonly shown: readonly string[]
  /** undefined: the default. */
  readonly change: (ids: readonly string[] | undefined) => void
  /** Paths of payloads that can be columns; absent: the list has no payloads. */
  readonly paths?: readonly string[]
}

/** The prefix of a column that is a field of the payload. */
export const FIELD = 'field:'

/** The button that chooses the columns of a list. */
export function ColumnsButton(props: Props): ReactElement {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <IconButton label="Columns" onClick={() => setOpen(true)}>
        <Columns3 strokeWidth={1.5} />
      </IconButton>
      {isOpen && <ColumnsDialog {...props} onClose={() => setOpen(false)} />}
    </>
  )
}

function ColumnsDialog({ all, shown, change, paths, onClose }: Props & { readonly onClose: () => void }): ReactElement {
  const own = shown.filter((id) => id.startsWith(FIELD)).map((id) => id.slice(FIELD.length))
  const fields = paths === undefined ? [] : [...new Set([...own, ...paths])]
  const set = (id: string, isOn: boolean): void => {
    const next = isOn ? [...shown, id] : shown.filter((one) => one !== id)
    // Columns of the list stay in their order; fields of payloads follow them.
    change([
      ...all.map((one) => one.id).filter((one) => next.includes(one)),
      ...next.filter((one) => one.startsWith(FIELD)),
    ])
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Columns"
      lead="Postroad stores the columns of this view in this browser."
      actions={
        <>
          <Button kind="quiet" className="mr-auto -ml-2.5" onClick={() => change(undefined)}>
            Restore defaults
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div role="group" aria-label="List columns" className="mb-4 grid grid-cols-2 gap-x-6 max-md:grid-cols-1">
        {all.map(({ id, label }) => (
          <Check
            key={id}
            label={label}
            checked={shown.includes(id)}
            onChange={({ target }) => set(id, target.checked)}
          />
        ))}
      </div>
      {paths !== undefined && (
        <div role="group" aria-label="Payload fields">
          <h3 className="mb-1 font-strong">Payload fields</h3>
          <div
            className="mono grid max-h-[30vh] grid-cols-2 gap-x-6 overflow-y-auto text-data max-md:grid-cols-1"
            tabIndex={0}
            role="group"
            aria-label="Known fields"
          >
            {fields.map((path) => (
              <Check
                key={path}
                label={
                  <span className="block break-all" title={path}>
                    {path}
                  </span>
                }
                checked={shown.includes(FIELD + path)}
                onChange={({ target }) => set(FIELD + path, target.checked)}
              />
            ))}
          </div>
          <AddField onAdd={(path) => set(FIELD + path, true)} />
        </div>
      )}
    </Dialog>
  )
}

function AddField({ onAdd }: { readonly onAdd: (path: string) => void }): ReactElement {
  const [path, setPath] = useState('')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (path.trim() !== '') onAdd(path.trim())
    setPath('')
  }
  return (
    <form onSubmit={submit} className="mt-3 flex items-center gap-2">
      <input
        aria-label="Path to another field"
        placeholder="data.object.amount"
        value={path}
        spellCheck={false}
        onChange={({ target }) => setPath(target.value)}
        className="mono h-8 min-w-0 flex-1 rounded-field border border-line-2 bg-surface px-2.5 text-data"
      />
      <Button type="submit" disabled={path.trim() === ''}>
        Add
      </Button>
    </form>
  )
}
