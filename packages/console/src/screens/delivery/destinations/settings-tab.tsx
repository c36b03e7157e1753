import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { bodyOf, draftOfDestination } from './draft.ts'
import { HeaderFields, KindFields, OrderFields, RetryFields, WhatFields, WhereFields } from './form.tsx'

/** The settings of a destination; a change applies when it is saved. */
export function SettingsTab({ destination }: { readonly destination: Destination }): ReactElement {
  const form = useSaveForm({
    held: draftOfDestination(destination),
    read: bodyOf,
    route: routes.destinations.update,
    rooms: ['destinations'],
    send: (client, body) => client.destinations.update({ id: destination.id, ...body }),
    countsFrom: 'the next attempt',
  })
  const fields = fieldsOf(form)
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="URL and name">
        <WhereFields {...fields} />
        <KindFields {...fields} />
      </Part>
      <Part title="Events">
        <WhatFields {...fields} />
      </Part>
      <Part
        title="Retries and limits"
        text="A 2xx response completes the delivery. Postroad retries after any other response, except 410, which turns the destination off."
      >
        <RetryFields {...fields} />
      </Part>
      <Part title="Order">
        <OrderFields {...fields} />
      </Part>
      <Part title="Headers">
        <HeaderFields {...fields} />
      </Part>
    </SaveForm>
  )
}
