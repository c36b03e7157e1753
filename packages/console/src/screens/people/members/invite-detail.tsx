import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useMailMode } from '../../../data/mail-mode.ts'
import { useRefusal } from '../../../data/place.ts'
import { CopyMeta, Detail, Facts, Part } from '../../../parts/detail.tsx'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { Button } from '../../../ui/button.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Countdown, Time } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { InviteLink } from './invite-link.tsx'
import type { Person } from './rows.ts'
import { ROLE_TEXTS } from './roles.tsx'

type Invite = Extract<Person, { readonly kind: 'invite' }>

/** An invite that nobody has accepted yet. */
export function InviteDetail({
  invite: { id, email, role, status, invited_by, created_at, expires_at },
  onClose,
}: {
  readonly invite: Invite
  readonly onClose: () => void
}): ReactElement {
  const [isRevoking, setRevoking] = useState(false)
  const resendRefusal = useRefusal(routes.invites.resend)
  const revokeRefusal = useRefusal(routes.invites.remove)
  const [link, setLink] = useState<string>()
  const mode = useMailMode()
  const toast = useToast()
  const items = useCopyItemsOf()
  const resend = useChange(['members'], (client) => client.invites.resend({ id }))
  return (
    <Detail
      label="Invite"
      title={email}
      chip={
        <Chip tone={status === 'pending' ? 'sending' : 'none'}>{status === 'pending' ? 'invited' : 'expired'}</Chip>
      }
      onClose={onClose}
      meta={<CopyMeta text={id} label="Copy ID" />}
      actions={
        <>
          <Button
            disabled={resendRefusal !== undefined || resend.isPending}
            title={
              resendRefusal ??
              (mode === 'outbox'
                ? 'Makes a new link for you to give. The previous link stops working'
                : 'Emails a new link. The previous link stops working')
            }
            onClick={() =>
              resend.mutate(undefined, {
                onSuccess: ({ link: made }) =>
                  made === null ? toast({ text: `${email} gets a new link by email.` }) : setLink(made),
              })
            }
          >
            {mode === 'outbox' ? 'New link' : 'Send again'}
          </Button>
          <Button
            kind="danger"
            disabled={revokeRefusal !== undefined}
            title={revokeRefusal}
            onClick={() => setRevoking(true)}
          >
            Revoke
          </Button>
          <MoreMenu
            items={[
              ...items(
                { route: routes.invites.resend, params: { id } },
                mode === 'outbox' ? '“New link”' : '“Send again”',
              ),
              ...items({ route: routes.invites.remove, params: { id } }, '“Revoke”'),
            ]}
          />
        </>
      }
    >
      <Part title="Invite">
        <Facts
          of={[
            ['Role', `${role}. ${ROLE_TEXTS[role]}`],
            ['Invited by', invited_by.name],
            ['Invited', <Time key="at" at={created_at} />],
            [
              'Link',
              status === 'expired' ? (
                `expired; ${mode === 'outbox' ? 'make a new link' : 'resend the invite to create a new link'}`
              ) : (
                <>
                  works once, expires <Countdown to={expires_at} />
                </>
              ),
            ],
          ]}
        />
        <RefusedLine error={resend.error} />
      </Part>
      {link !== undefined && (
        <InviteLink title={`A new link for ${email}`} email={email} link={link} onClose={() => setLink(undefined)} />
      )}
      {isRevoking && (
        <RemoveDialog
          name={`the invite of ${email}`}
          removal={{
            verb: 'Revoke',
            text: 'Its link stops working.',
            rooms: ['members', 'workspaces'],
            run: (client) => client.invites.remove({ id }),
          }}
          onClose={() => setRevoking(false)}
          onRemoved={onClose}
        />
      )}
    </Detail>
  )
}
