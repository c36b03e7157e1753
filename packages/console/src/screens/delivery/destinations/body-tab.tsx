import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { bodyDraftOf, bodyMembersOf } from './body-draft.ts'
import { Preview } from './preview.tsx'
import { TransformField } from './transform-field.tsx'
import { TemplateFields } from './template-fields.tsx'

/** The body of deliveries, beside the request for a real record. Nothing changes until it is saved. */
export function BodyTab({ destination }: { readonly destination: Destination }): ReactElement {
  const held = bodyDraftOf(destination)
  const form = useSaveForm({
    held,
    read: bodyMembersOf,
    route: routes.destinations.update,
    rooms: ['destinations', 'destinationPreviews', 'transforms'],
    send: (client, body) => client.destinations.update({ id: destination.id, ...body }),
    countsFrom: 'the next attempt',
  })
  const read = bodyMembersOf(form.draft)
  return (
    <div className="grid min-h-full grid-cols-[minmax(0,1fr)_minmax(0,1fr)] max-xl:grid-cols-1">
      <SaveForm label="Body" of={form}>
        <Part
          title="Body"
          text="The envelope works with every webhook receiver. Chat and paging services need their own JSON. The signature covers the exact bytes that Postroad sends."
        >
          <TemplateFields
            draft={form.draft}
            kind={destination.kind}
            held={held.template}
            change={form.change}
            disabled={form.disabled}
          />
          <TransformField draft={form.draft} change={form.change} kind={destination.kind} disabled={form.disabled} />
        </Part>
      </SaveForm>
      <section
        aria-label="Preview"
        className="min-w-0 border-l border-line bg-sunken px-5 py-5 max-xl:border-t max-xl:border-l-0"
      >
        <h3 className="font-title">Request preview</h3>
        <p className="mb-3 text-ink-3">
          For an event that this destination receives. The preview does not send anything.
        </p>
        <Preview
          receiver={destination}
          settings={'body' in read ? { destination_id: destination.id, ...read.body } : undefined}
        />
      </section>
    </div>
  )
}
