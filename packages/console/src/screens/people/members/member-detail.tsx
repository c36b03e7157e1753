import { ROLES, routes, type Role } from '@postroad/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useState, type ReactElement } from 'react'
import { usePlace, useRefusal } from '../../../data/place.ts'
import { CopyMeta, Detail, Part } from '../../../parts/detail.tsx'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { Button } from '../../../ui/button.tsx'
import { Chip } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Time } from '../../../ui/time.tsx'
import { LeaveDialog } from './leave-dialog.tsx'
import { RoleChoice } from './roles.tsx'
import { usePeople, type Person } from './rows.ts'
import { TransferDialog } from './transfer-dialog.tsx'

type Member = Extract<Person, { readonly kind: 'member' }>
type Asked = 'transfer' | 'remove' | 'leave'

/** A member: the role, the ownership, and the end of the membership. */
export function MemberDetail({
  member,
  onClose,
}: {
  readonly member: Member
  readonly onClose: () => void
}): ReactElement {
  const { id, name, email, role, isYou, joined_at } = member
  const [asks, setAsks] = useState<Asked | undefined>()
  const items = useCopyItemsOf()
  const close = (): void => setAsks(undefined)
  return (
    <Detail
      label="Member"
      title={name}
      chip={<Chip tone="none">{role}</Chip>}
      onClose={onClose}
      meta={
        <>
          {email !== null && <CopyMeta text={email} label="Copy the address" />}
          <CopyMeta text={id} label="Copy ID" />
          <span>
            joined <Time at={joined_at} />
          </span>
        </>
      }
      actions={
        <MoreMenu
          items={[
            ...items({ route: routes.members.update, params: { id }, body: { role } }, '“Change role”'),
            ...items({ route: routes.members.remove, params: { id } }, '“Remove”'),
          ]}
        />
      }
    >
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        role="group"
        aria-label="Membership"
        tabIndex={0}
      >
        <RolePart member={member} />
        {!isYou && <OwnershipPart name={name} ask={() => setAsks('transfer')} />}
        <EndPart member={member} ask={setAsks} />
      </div>
      {asks === 'transfer' && <TransferDialog member={member} onClose={close} />}
      {asks === 'leave' && <LeaveDialog onClose={close} />}
      {asks === 'remove' && (
        <RemoveDialog
          name={name}
          removal={{
            verb: 'Remove',
            text: 'The member loses access immediately, and the API keys that they created are revoked. Project resources that they created are not deleted.',
            rooms: ['members', 'workspaces', 'apiKeys'],
            run: (client) => client.members.remove({ id }),
          }}
          onClose={close}
          onRemoved={onClose}
        />
      )}
    </Detail>
  )
}

function RolePart({ member }: { readonly member: Member }): ReactElement {
  const { id, role: held, isYou } = member
  const isLastOwner = useIsLastOwner(member)
  const { me } = usePlace()
  const asking = useQueryClient()
  const form = useSaveForm({
    held,
    read: (role: Role) => ({ body: role }),
    route: routes.members.update,
    rooms: ['members'],
    send: async (client, role) => {
      const saved = await client.members.update({ id, role })
      // With another role, this person may do more or less on every page.
      if (isYou) await asking.invalidateQueries({ queryKey: ['me'] })
      return saved
    },
    countsFrom: 'the next request',
  })
  const isAbove = ROLES.indexOf(held) > ROLES.indexOf(me.role)
  return (
    <SaveForm label="Member role" of={form} isPart>
      <Part
        title="Permissions"
        text={
          isLastOwner
            ? 'You are the only owner, so your role cannot change. You can transfer the ownership to another member.'
            : isAbove
              ? 'This role is above yours, so you cannot change it.'
              : `The role also limits the API keys that ${isYou ? 'you' : 'they'} created.${isYou ? ' With a lower role, you can lose access to this page.' : ''}`
        }
      >
        <RoleChoice
          at={form.draft}
          go={form.change}
          upTo={me.role}
          disabled={form.disabled || isAbove || isLastOwner}
        />
      </Part>
    </SaveForm>
  )
}

function OwnershipPart({ name, ask }: { readonly name: string; readonly ask: () => void }): ReactElement {
  const refusal = useRefusal(routes.members.transferOwnership)
  return (
    <Part
      title="Ownership"
      text={`Makes ${name} the owner and makes you an admin.`}
      beside={
        <Button disabled={refusal !== undefined} title={refusal} onClick={ask}>
          Transfer…
        </Button>
      }
    >
      {refusal !== undefined && <p className="text-ink-3">{refusal}</p>}
    </Part>
  )
}

const LAST_OWNER =
  'You are the only owner, so you cannot leave. Transfer ownership on another member’s page, or close the workspace. If there is no other member, invite one first.'

/** Whether the member is the person who is signed in, and the only owner. */
function useIsLastOwner({ isYou, role }: Member): boolean {
  const { data: people = [] } = usePeople()
  const owners = people.filter((one) => one.kind === 'member' && one.role === 'owner')
  return isYou && role === 'owner' && owners.length === 1
}

function EndPart({ member, ask }: { readonly member: Member; readonly ask: (asked: Asked) => void }): ReactElement {
  const { name, isYou } = member
  const removeRefusal = useRefusal(routes.members.remove)
  const leaveRefusal = useRefusal(routes.members.leave)
  const isLastOwner = useIsLastOwner(member)
  const refusal = isLastOwner ? LAST_OWNER : isYou ? leaveRefusal : removeRefusal
  return (
    <Part
      title={isYou ? 'Leave' : 'Remove'}
      text={
        isYou
          ? 'Ends your access to this workspace and revokes the API keys that you created in it.'
          : `Ends the access of ${name} at once and revokes the API keys that they created.`
      }
      beside={
        <Button
          kind="danger"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={() => ask(isYou ? 'leave' : 'remove')}
        >
          {isYou ? 'Leave…' : 'Remove…'}
        </Button>
      }
    >
      {refusal !== undefined && <p className="text-ink-3">{refusal}</p>}
    </Part>
  )
}
