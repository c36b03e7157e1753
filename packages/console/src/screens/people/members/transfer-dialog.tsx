import { routes } from '@postroad/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Field } from '../../../ui/field.tsx'
import { useToast } from '../../../ui/toast.tsx'

/** Asks for the name of the workspace, because the person cannot take the ownership back. */
export function TransferDialog({
  member: { id, name },
  onClose,
}: {
  readonly member: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}): ReactElement {
  const { workspace } = usePlace().me
  const [typed, setTyped] = useState('')
  const toast = useToast()
  const asking = useQueryClient()
  const transfer = useChange(['members'], (client, user_id: string) => client.members.transferOwnership({ user_id }))
  return (
    <CreateWindow
      title={`Make ${name} the owner?`}
      lead="You become an admin. Only the new owner can transfer ownership back."
      read={typed.trim() === workspace.name ? { body: id } : { problem: 'Type the workspace name to confirm.' }}
      call={(user_id) => ({ route: routes.members.transferOwnership, body: { user_id } })}
      submit={(user_id) =>
        transfer.mutate(user_id, {
          onSuccess: () => {
            toast({ text: `${name} is the owner now. You are an admin.` })
            onClose()
            void asking.invalidateQueries({ queryKey: ['me'] })
          },
        })
      }
      change={transfer}
      verb="Transfer ownership"
      danger
      onClose={onClose}
    >
      <Field
        label={`Type the workspace name: ${workspace.name}`}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </CreateWindow>
  )
}
