import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import type { Destination } from '../../data/names.ts'
import { useMay } from '../../data/place.ts'
import { Part, SaveBar } from '../../parts/detail.tsx'
import { Button } from '../../ui/button.tsx'
import { needs, RefusedLine } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { Preview } from './preview.tsx'
import { templateDraftOf, templateOf, type TemplateDraft } from './template-draft.ts'
import { TemplateFields } from './template-fields.tsx'

/** What the body of its deliveries is, beside what would be sent for a real record. Nothing changes until it is saved. */
export function BodyTab({ destination }: { readonly destination: Destination }): ReactElement {
  const [changed, setChanged] = useState<{ readonly draft: TemplateDraft } | undefined>()
  const may = useMay(routes.destinations.update)
  const toast = useToast()
  const save = useChange(['destinations', 'destinationPreviews'], (client, body: Pick<Parameters<typeof client.destinations.update>[0], 'payload_template'>) => client.destinations.update({ id: destination.id, ...body }))
  const held = templateDraftOf(destination)
  const draft = changed === undefined ? held : changed.draft
  const read = templateOf(draft)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!('template' in read)) return
    save.mutate({ payload_template: read.template }, {
      onSuccess: () => {
        setChanged(undefined)
        toast({ text: 'Saved. It counts from the next attempt on.' })
      },
    })
  }
  return (
    <div className="grid min-h-full grid-cols-[minmax(0,1fr)_minmax(0,1fr)] max-xl:grid-cols-1">
      <form onSubmit={submit} aria-label="Body" className="flex min-w-0 flex-col">
        {!may && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{needs(routes.destinations.update.role)}</p>}
        <Part title="Body" text="The envelope is what every receiver of webhooks can verify. Chat rooms and pagers want JSON of another shape; signatures are over what is sent.">
          <TemplateFields draft={draft} held={held} change={(next) => setChanged({ draft: next })} disabled={!may} />
        </Part>
        <div className="flex-1" />
        {changed !== undefined && (
          <SaveBar>
            <div className="mr-auto min-w-0">{'problem' in read ? <p role="alert" className="text-fail">{read.problem}</p> : <RefusedLine error={save.error} />}</div>
            <Button onClick={() => { setChanged(undefined); save.reset() }}>Discard</Button>
            <Button kind="primary" type="submit" disabled={'problem' in read || save.isPending}>Save</Button>
          </SaveBar>
        )}
      </form>
      <section aria-label="Preview" className="min-w-0 border-l border-line bg-sunken px-5 py-5 max-xl:border-t max-xl:border-l-0">
        <h3 className="font-title">What would be sent</h3>
        <p className="mb-3 text-ink-3">For a real record. Nothing is sent by this.</p>
        <Preview settings={'template' in read ? { destination_id: destination.id, payload_template: read.template } : undefined} />
      </section>
    </div>
  )
}
