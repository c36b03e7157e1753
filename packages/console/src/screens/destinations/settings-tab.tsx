import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import type { Destination } from '../../data/names.ts'
import { useMay } from '../../data/place.ts'
import { Part, SaveBar } from '../../parts/detail.tsx'
import { Button } from '../../ui/button.tsx'
import { needs, RefusedLine } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { bodyOf, draftOfDestination, type DestinationDraft } from './draft.ts'
import { HeaderFields, RetryFields, WhatFields, WhereFields } from './form.tsx'

/** Everything that can be changed about it; nothing is until it is saved. */
export function SettingsTab({ destination }: { readonly destination: Destination }): ReactElement {
  const [changed, setChanged] = useState<DestinationDraft | undefined>()
  const may = useMay(routes.destinations.update)
  const toast = useToast()
  const save = useChange(['destinations'], (client, body: Omit<Parameters<typeof client.destinations.update>[0], 'id'>) => client.destinations.update({ id: destination.id, ...body }))
  const draft = changed ?? draftOfDestination(destination)
  const read = bodyOf(draft)
  const fields = { draft, disabled: !may, change: (part: Partial<DestinationDraft>) => setChanged({ ...draft, ...part }) }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!('body' in read)) return
    save.mutate(read.body, {
      onSuccess: () => {
        setChanged(undefined)
        toast({ text: 'Saved. It counts from the next attempt on.' })
      },
    })
  }
  return (
    <form onSubmit={submit} aria-label="Settings">
      {!may && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{needs(routes.destinations.update.role)}</p>}
      <Part title="Where to"><WhereFields {...fields} /></Part>
      <Part title="What"><WhatFields {...fields} /></Part>
      <Part title="Retries and limits" text="2xx is delivered. Anything else is tried again, except 410, which switches the destination off."><RetryFields {...fields} /></Part>
      <Part title="Headers"><HeaderFields {...fields} /></Part>
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
