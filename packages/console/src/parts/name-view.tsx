import { useState, type FormEvent, type ReactElement } from 'react'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Field } from '../ui/field.tsx'

/** Asks for a name, under which the filter becomes a custom view. */
export function NameView({
  onClose,
  onName,
}: {
  readonly onClose: () => void
  readonly onName: (name: string) => void
}): ReactElement {
  const [name, setName] = useState('')
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (name.trim() === '') return
    onName(name.trim())
    onClose()
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title="Save this view"
      lead="This browser stores the view. To share the view, copy the page URL."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="name-view">
            Save
          </Button>
        </>
      }
    >
      <form id="name-view" onSubmit={submit}>
        <Field label="Name" value={name} maxLength={40} autoFocus onChange={({ target }) => setName(target.value)} />
      </form>
    </Dialog>
  )
}
