import { LIMITS, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check, Field, Select } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'

export type RecordView = RouteAnswer<Routes['recordViews']['get']>['view']
type Props = {
  readonly webhookId: string
  readonly known: readonly { readonly key: string; readonly label: string }[]
  readonly view: RecordView | undefined
  readonly onClose: () => void
  readonly onSaved: (view: RecordView) => void
}

const FORM = 'record-view'

/** Columns with a name and an order, for everyone who looks at the records of the endpoint. */
export function ViewDialog({ webhookId, known, view, onClose, onSaved }: Props): ReactElement {
  const [name, setName] = useState(view?.name ?? '')
  const [keys, setKeys] = useState<readonly string[]>(view?.columns.map(({ key }) => key) ?? ['_received_at'])
  const [sortKey, setSortKey] = useState(view?.sort_key ?? '')
  const [sortDir, setSortDir] = useState<'asc' | 'desc'>(view?.sort_dir ?? 'asc')
  const [isDefault, setDefault] = useState(view?.is_default ?? false)
  const labels = new Map(view?.columns.map((column) => [column.key, column.label]))
  const members = {
    id: webhookId,
    name,
    // Without a label the server uses the key, which can be longer than a label.
    columns: keys.map((key) => {
      const label = labels.get(key) ?? known.find((one) => one.key === key)?.label ?? key
      return label === key ? { key } : { key, label }
    }),
    sort_key: sortKey === '' ? null : sortKey,
    sort_dir: sortDir,
    is_default: isDefault,
  }
  const save = useChange(['views', 'records'], (client) =>
    view === undefined
      ? client.recordViews.create(members)
      : client.recordViews.update({ ...members, view_id: view.id }),
  )
  const all = [...new Set([...known.map(({ key }) => key), ...keys])].filter(
    (key) => key !== '_id' && key.length <= LIMITS.columnKeyCharsMax,
  )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    save.mutate(undefined, { onSuccess: (saved) => onSaved(saved.view) })
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={view === undefined ? 'New record view' : 'Edit the view'}
      lead="Columns and a sort order, shared with everyone who can see these records."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            form={FORM}
            disabled={keys.length === 0 || keys.length > LIMITS.viewColumnsMax || name.trim() === '' || save.isPending}
          >
            Save the view
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <Field
          label="Name"
          required
          maxLength={LIMITS.nameCharsMax}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <fieldset className="mb-3.5">
          <legend className="mb-1 font-control">Columns, in the order that you select them</legend>
          <div className="grid max-h-52 grid-cols-2 gap-x-4 overflow-y-auto rounded-field border border-line-2 px-2.5 py-1.5 max-md:grid-cols-1">
            {all.map((key) => (
              <Check
                key={key}
                label={<span className="mono text-data break-all">{key === '' ? '(empty key)' : key}</span>}
                checked={keys.includes(key)}
                onChange={({ target }) => setKeys(target.checked ? [...keys, key] : keys.filter((one) => one !== key))}
              />
            ))}
          </div>
        </fieldset>
        <div className="grid grid-cols-2 gap-4 max-md:grid-cols-1">
          <Select label="Sorted by" value={sortKey} onChange={({ target }) => setSortKey(target.value)}>
            <option value="">newest first</option>
            {all
              .filter((key) => key !== '')
              .map((key) => (
                <option key={key} value={key}>
                  {key}
                </option>
              ))}
          </Select>
          <Select
            label="Order"
            value={sortDir}
            disabled={sortKey === ''}
            onChange={({ target }) => setSortDir(target.value === 'desc' ? 'desc' : 'asc')}
          >
            <option value="asc">smallest first</option>
            <option value="desc">largest first</option>
          </Select>
        </div>
        <div className="mb-3.5">
          <Check
            label="Open this view by default"
            checked={isDefault}
            onChange={({ target }) => setDefault(target.checked)}
          />
        </div>
        <RefusedLine error={save.error} />
      </form>
    </Dialog>
  )
}
