import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllPortals, type Portal } from '../../../data/lists.ts'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { PortalDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: Portal) => enabled === 1 },
  { id: 'off', label: 'Off', has: ({ enabled }: Portal) => enabled !== 1 },
] as const

/** Portals: the pages where customers manage their own destinations. */
export function Screen(): ReactElement {
  const asked = useAllPortals()
  return (
    <ResourceScreen
      title="Portals"
      one="portal"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, slug, datasets }) => [id, name, slug, ...(datasets ?? [])].join(' ')}
      create={{ label: 'New portal', route: routes.portals.create, dialog: CreateDialog, tab: 'looks' }}
      path="portals"
      detail={PortalDetail}
      never={{
        title: 'No portals yet',
        text: 'A portal is a page where your customers add their webhook URLs, view deliveries and retry them. You can set the name, logo and color, and embed the portal in your product.',
      }}
    />
  )
}
