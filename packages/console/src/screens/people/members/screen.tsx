import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useSeats } from '../../../parts/seats.ts'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { InSettings } from '../../../parts/settings-page.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { InviteDialog } from './invite-dialog.tsx'
import { PersonDetail } from './person-detail.tsx'
import { usePeople, type Person } from './rows.ts'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'members', label: 'Members', has: ({ kind }: Person) => kind === 'member' },
  { id: 'invites', label: 'Invites', has: ({ kind }: Person) => kind === 'invite' },
] as const

/** The people of the workspace, and those who are invited to it. */
export function Screen(): ReactElement {
  const asked = usePeople()
  const items = useCopyItemsOf()
  return (
    <InSettings>
      <ResourceScreen
        title="Members"
        one="person"
        many="people"
        asked={asked}
        columns={COLUMNS}
        slim={SLIM}
        views={VIEWS}
        textOf={(row) => [row.id, row.name, row.email ?? '', row.role].join(' ')}
        create={{ label: 'Invite', route: routes.invites.create, dialog: InviteDialog }}
        actions={<Seats />}
        listItems={items({ route: routes.members.list })}
        detail={PersonDetail}
        never={{ title: 'No members yet', text: 'Invite the first person.' }}
      />
    </InSettings>
  )
}

/** How many seats of the plan are in use. */
function Seats(): ReactElement | null {
  const seats = useSeats()
  if (seats === undefined || seats.max === null) return null
  return (
    <span
      className={seats.used >= seats.max ? 'text-retry-text' : 'text-ink-3'}
      title={`${seats.text}. Pending invites also use seats.`}
    >
      {seats.used} of {seats.max} seats
    </span>
  )
}
