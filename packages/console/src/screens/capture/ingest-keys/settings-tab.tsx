import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { IngestKey } from '../../../data/lists.ts'
import { Part } from '../../../parts/detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { bodyOf, draftOfKey } from './draft.ts'
import { KeyFields } from './form.tsx'

/** The settings of a key; a change applies when it is saved. */
export function SettingsTab({ ingestKey: key }: { readonly ingestKey: IngestKey }): ReactElement {
  const form = useSaveForm({
    held: draftOfKey(key),
    read: bodyOf,
    route: routes.ingestKeys.update,
    rooms: ['ingestKeys'],
    send: (client, body) => client.ingestKeys.update({ id: key.id, ...body }),
    countsFrom: 'the next request',
  })
  const fields = fieldsOf(form)
  return (
    <SaveForm label="Settings" of={form}>
      <Part
        title="Settings"
        text={fields.draft.datasets === null ? undefined : 'Postroad rejects events for any other dataset with 403.'}
      >
        <KeyFields {...fields} />
      </Part>
    </SaveForm>
  )
}
