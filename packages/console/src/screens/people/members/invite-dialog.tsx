import { routes, type Role } from '@postroad/contract'
import { ServiceError } from '@postroad/sdk/service-error'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useMailMode } from '../../../data/mail-mode.ts'
import { usePlace } from '../../../data/place.ts'
import { useSeats } from '../../../parts/seats.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Field } from '../../../ui/field.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { InviteLink } from './invite-link.tsx'
import { RoleChoice } from './roles.tsx'

/** Invites a person by their address. */
export function InviteDialog({
  onClose,
  onMade,
}: {
  readonly onClose: () => void
  readonly onMade: (id: string) => void
}): ReactElement {
  const { me } = usePlace()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const toast = useToast()
  const invite = useChange(['members', 'workspaces'], (client, body: { readonly email: string; readonly role: Role }) =>
    client.invites.create(body),
  )
  const mode = useMailMode()
  if (typeof invite.data?.link === 'string') {
    const { invite: made, link } = invite.data
    return (
      <InviteLink title={`${made.email} is invited`} email={made.email} link={link} onClose={() => onMade(made.id)} />
    )
  }
  return (
    <CreateWindow
      title="Invite a member"
      lead={
        mode === 'outbox'
          ? 'You get a link that works once, within 7 days. This server has no mail server, so give the link to the person yourself.'
          : 'Postroad emails a link that works once, within 7 days, and only for a person who has verified this address.'
      }
      read={email.trim() === '' ? { problem: 'Enter an email address.' } : { body: { email: email.trim(), role } }}
      call={(body) => ({ route: routes.invites.create, body })}
      submit={(body) =>
        invite.mutate(body, {
          onSuccess: ({ invite: made, link }) => {
            if (link !== null) return
            toast({ text: `${made.email} gets the link by email.` })
            onMade(made.id)
          },
        })
      }
      change={invite}
      verb="Invite"
      onClose={onClose}
    >
      <Field
        label="Email"
        type="email"
        required
        autoComplete="off"
        placeholder="ada@example.com"
        value={email}
        onChange={({ target }) => setEmail(target.value)}
      />
      <RoleChoice at={role} go={setRole} upTo={me.role} />
      <SeatsLine />
      <Upgrade error={invite.error} />
    </CreateWindow>
  )
}

function SeatsLine(): ReactElement | null {
  const seats = useSeats()
  if (seats === undefined || seats.max === null) return null
  return (
    <p className="mb-3.5 text-ink-3">
      {seats.text} use {seats.used} of the {seats.max} seats in the plan.
    </p>
  )
}

/** The link to a larger plan, when the plan allows no more members. */
function Upgrade({ error }: { readonly error: Error | null }): ReactElement | null {
  if (!(error instanceof ServiceError) || typeof error.body['upgrade_url'] !== 'string') return null
  return (
    <p className="mb-3.5">
      <a className="text-accent underline" href={error.body['upgrade_url']}>
        See plans with more seats
      </a>
    </p>
  )
}
