import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Portal } from '../../../data/lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { bodyOf, draftOf } from './draft.ts'
import { SettingsFields } from './settings-fields.tsx'

/** The settings of a portal besides its looks. */
export function SettingsTab({ portal }: { readonly portal: Portal }): ReactElement {
  const form = useSaveForm({
    held: draftOf(portal),
    read: bodyOf,
    route: routes.portals.update,
    rooms: ['portals'],
    send: (client, body) => client.portals.update({ id: portal.id, ...body }),
    countsFrom: 'the next event',
  })
  return (
    <SaveForm label="Settings" of={form}>
      <Part
        title="General"
        text="If you remove a dataset from the portal, Postroad stops delivering it to customer destinations."
      >
        <SettingsFields {...fieldsOf(form)} />
      </Part>
    </SaveForm>
  )
}
