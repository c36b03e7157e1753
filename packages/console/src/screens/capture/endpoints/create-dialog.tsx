import { LIMITS } from '@postroad/contract'
import { verifyTokenNeed } from '@postroad/contract/handshake'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { createBodyOf, createDraftOf, isChecked, type Sender } from '../../../parts/senders.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { SenderChoice } from './sender-choice.tsx'
import { SenderSetup } from './sender-setup.tsx'
import { VerificationFields } from './verification-fields.tsx'
import { VerifyTokenField } from './verify-token-field.tsx'

type Props = { readonly onClose: () => void; readonly onMade: (id: string) => void }

/** Creates an endpoint: first the sender, then its settings. */
export function CreateDialog({ onClose, onMade }: Props): ReactElement {
  const [sender, setSender] = useState<Sender | undefined>()
  const back = (): void => setSender(undefined)
  // A sender with a custom header is set up by its settings; every other sender, in the order of its own pages.
  if (sender !== undefined && isChecked(sender) && sender.id !== 'hmac')
    return <SenderSetup sender={sender} onBack={back} onClose={onClose} onMade={onMade} />
  if (sender !== undefined) return <Settings sender={sender} onBack={back} onClose={onClose} onMade={onMade} />
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="New endpoint"
      lead="Choose the sender. The endpoint can then check its signatures."
      actions={<Button onClick={onClose}>Cancel</Button>}
    >
      <SenderChoice choose={setSender} />
    </Dialog>
  )
}

function Settings({
  sender,
  onBack,
  onClose,
  onMade,
}: Props & { readonly sender: Sender; readonly onBack: () => void }): ReactElement {
  const [draft, setDraft] = useState(() => createDraftOf(sender))
  const create = useChange(['webhooks'], (client) => client.webhooks.create(createBodyOf(sender, draft)))
  const set = (part: Partial<typeof draft>): void => setDraft({ ...draft, ...part })
  const secretless = createBodyOf(sender, {
    ...draft,
    verification: { ...draft.verification, secret: '' },
  })
  const needsToken = verifyTokenNeed(sender.handshake) === 'required'
  const problem =
    draft.name.trim() === ''
      ? 'Enter a name.'
      : needsToken && draft.verifyToken === ''
        ? 'Enter a verify token.'
        : undefined
  return (
    <CreateWindow
      wide
      title={sender.id === 'any' ? 'New endpoint' : `New endpoint: ${sender.name}`}
      lead={sender.setup === '' ? 'A URL that a sender posts webhooks to.' : sender.setup}
      read={problem === undefined ? { body: secretless } : { problem }}
      call={(body) => ({ method: 'POST', path: 'webhooks', body })}
      submit={() => create.mutate(undefined, { onSuccess: ({ webhook }) => onMade(webhook.id) })}
      change={create}
      onClose={onClose}
      onBack={onBack}
    >
      <Field
        label="Name"
        required
        maxLength={LIMITS.nameCharsMax}
        placeholder="Billing"
        value={draft.name}
        onChange={({ target }) => set({ name: target.value })}
      />
      <Field
        label="Dataset"
        placeholder="made from the name"
        value={draft.dataset}
        onChange={({ target }) => set({ dataset: target.value })}
        className="mono text-data"
        hint="The dataset for its events. Start with a letter, then use letters, digits and underscores."
      />
      {needsToken && <VerifyTokenField value={draft.verifyToken} change={(verifyToken) => set({ verifyToken })} />}
      <VerificationFields
        draft={draft.verification}
        set={(part) => set({ verification: { ...draft.verification, ...part } })}
        isHeld={false}
      />
      <p className="mb-3.5 text-data text-ink-3">
        Postroad detects duplicates by the Idempotency-Key header, if the sender sends it. You can choose another header
        under Access.
      </p>
    </CreateWindow>
  )
}
