import { LIMITS, routes } from '@postroad/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import type { Workspace } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { Part } from '../../../parts/detail.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'

const GRACE_DAYS = LIMITS.workspaceGraceMs / 86_400_000

/** The end of the workspace, and the way back during its grace. */
export function ClosurePart({ of }: { readonly of: Workspace }): ReactElement {
  return of.closed_at === null ? <Close of={of} /> : <Reopen of={of} />
}

function Close({ of: { name, slug } }: { readonly of: Workspace }): ReactElement {
  const [isAsking, setAsking] = useState(false)
  const refusal = useRefusal(routes.workspaces.close)
  return (
    <Part
      title="Close workspace"
      text={`Postroad stops accepting, sending and streaming events for this workspace. An owner can reopen it within ${GRACE_DAYS} days. After that, Postroad permanently deletes everything in it except the audit log.`}
      beside={
        <Button kind="danger" disabled={refusal !== undefined} title={refusal} onClick={() => setAsking(true)}>
          Close…
        </Button>
      }
    >
      {refusal !== undefined && <p className="text-ink-3">{refusal}</p>}
      {isAsking && <CloseDialog name={name} slug={slug} onClose={() => setAsking(false)} />}
    </Part>
  )
}

function CloseDialog({
  name,
  slug,
  onClose,
}: {
  readonly name: string
  readonly slug: string
  readonly onClose: () => void
}): ReactElement {
  const [typed, setTyped] = useState('')
  const asking = useQueryClient()
  // The dialog is gone once the workspace is read again, so every step is part of the change.
  const close = useChange(['workspaces'], async (client, confirm: string) => {
    await client.workspaces.close({ confirm })
    await asking.invalidateQueries({ queryKey: ['me'] })
    onClose()
  })
  return (
    <CreateWindow
      title={`Close ${name}?`}
      lead={`Senders get 403 immediately, and deliveries stop. You can reopen the workspace within ${GRACE_DAYS} days.`}
      read={typed.trim() === slug ? { body: slug } : { problem: `Type ${slug} to confirm.` }}
      call={(confirm) => ({ route: routes.workspaces.close, body: { confirm } })}
      submit={(confirm) => close.mutate(confirm)}
      change={close}
      verb="Close workspace"
      danger
      onClose={onClose}
    >
      <p className="mb-3 text-ink-2">
        To keep a copy of everything, create a{' '}
        <To screen="data-export" className="text-accent underline">
          data export
        </To>
        . You can still create one during the {GRACE_DAYS} days.
      </p>
      <Field
        label="Type the workspace slug"
        hint={<code className="mono">{slug}</code>}
        className="mono"
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </CreateWindow>
  )
}

function Reopen({ of: { closed_at, deleted_after } }: { readonly of: Workspace }): ReactElement {
  const refusal = useRefusal(routes.workspaces.reopen)
  const toast = useToast()
  const asking = useQueryClient()
  const reopen = useChange(['workspaces', 'deliveries'], async (client) => {
    await client.workspaces.reopen()
    await asking.invalidateQueries({ queryKey: ['me'] })
    toast({ text: 'The workspace is open again.' })
  })
  return (
    <Part
      title="The workspace is closed"
      text="Reopen the workspace to continue where it stopped. Postroad then accepts events again and sends the waiting deliveries."
      beside={
        <Button
          kind="primary"
          disabled={refusal !== undefined || reopen.isPending}
          title={refusal}
          onClick={() => reopen.mutate(undefined)}
        >
          Reopen
        </Button>
      }
    >
      <p className="text-ink-2">
        Closed {closed_at !== null && <Time at={closed_at} />}
        {deleted_after !== null && (
          <>
            . Everything in the workspace is deleted after <Time at={deleted_after} />.
          </>
        )}
      </p>
      {refusal !== undefined && <p className="text-ink-3">{refusal}</p>}
      <RefusedLine error={reopen.error} />
    </Part>
  )
}
