import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useMay } from '../../data/place.ts'
import { Part, SaveBar } from '../../parts/detail.tsx'
import { Button } from '../../ui/button.tsx'
import { needs, RefusedLine } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { bodyOf, draftOfKey, type IngestKey, type KeyDraft } from './draft.ts'
import { KeyFields } from './form.tsx'

/** What can be changed about a key; nothing is until it is saved. */
export function SettingsTab({ ingestKey: key }: { readonly ingestKey: IngestKey }): ReactElement {
  const [changed, setChanged] = useState<KeyDraft | undefined>()
  const may = useMay(routes.ingestKeys.update)
  const toast = useToast()
  const save = useChange(['ingestKeys'], (client, body: Omit<Parameters<typeof client.ingestKeys.update>[0], 'id'>) => client.ingestKeys.update({ id: key.id, ...body }))
  const draft = changed ?? draftOfKey(key)
  const read = bodyOf(draft)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!('body' in read)) return
    save.mutate(read.body, {
      onSuccess: () => {
        setChanged(undefined)
        toast({ text: 'Saved. It counts from the next request on.' })
      },
    })
  }
  return (
    <form onSubmit={submit} aria-label="Settings">
      {!may && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{needs(routes.ingestKeys.update.role)}</p>}
      <Part title="What it may do" text="An event that would be filed into any other dataset is refused whole, with 403.">
        <KeyFields draft={draft} change={(part) => setChanged({ ...draft, ...part })} disabled={!may} />
      </Part>
      {changed !== undefined && (
        <SaveBar>
          <div className="mr-auto min-w-0">{'problem' in read ? <p role="alert" className="text-fail">{read.problem}</p> : <RefusedLine error={save.error} />}</div>
          <Button onClick={() => { setChanged(undefined); save.reset() }}>Discard</Button>
          <Button kind="primary" type="submit" disabled={'problem' in read || save.isPending}>Save</Button>
        </SaveBar>
      )}
    </form>
  )
}
