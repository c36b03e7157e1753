import { LIMITS } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { RefusedLine } from '../../ui/states.tsx'
import { createOf, OPEN } from './verification-draft.ts'
import { VerificationFields } from './verification-fields.tsx'

const FORM = 'create-endpoint'

/** Makes an endpoint: a name is enough. */
export function CreateDialog({ onClose, onMade }: { readonly onClose: () => void; readonly onMade: (id: string) => void }): ReactElement {
  const [name, setName] = useState('')
  const [dataset, setDataset] = useState('')
  const [verification, setVerification] = useState(OPEN)
  const { project } = usePlace()
  const copy = useCopy()
  const body = { name, ...(dataset.trim() === '' ? {} : { dataset: dataset.trim() }), verification: createOf(verification) }
  const create = useChange(['webhooks'], (client) => client.webhooks.create(body))
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    create.mutate(undefined, { onSuccess: ({ webhook }) => onMade(webhook.id) })
  }
  const secretless = { ...body, verification: createOf({ ...verification, secret: '' }) }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New endpoint"
      lead="A URL of its own that webhooks are sent to."
      actions={
        <>
          <Button kind="quiet" className="mr-auto" disabled={name.trim() === ''} onClick={() => void copy(adminCurl({ method: 'POST', project, path: 'webhooks', body: secretless }), 'Copied as curl, without the secret')}>Copy as curl</Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={FORM} disabled={name.trim() === '' || create.isPending}>Create</Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <Field label="Name" required maxLength={LIMITS.nameCharsMax} placeholder="Billing" value={name} onChange={({ target }) => setName(target.value)} />
        <Field label="Dataset" placeholder="made from the name" value={dataset} onChange={({ target }) => setDataset(target.value)} className="mono text-data" hint="Where its events are filed. A letter, then letters, digits and underscores." />
        <VerificationFields draft={verification} set={(part) => setVerification({ ...verification, ...part })} isHeld={false} />
        <RefusedLine error={create.error} />
      </form>
    </Dialog>
  )
}
