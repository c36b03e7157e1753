import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Portal } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { counted } from '../../../parts/text-list.ts'
import { StateChip } from './columns.tsx'
import { CustomersTab } from './customers-tab.tsx'
import { EmbedTab } from './embed-tab.tsx'
import { LooksTab } from './looks-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'

const TABS = [
  { id: 'customers', label: 'Customers', of: CustomersTab },
  { id: 'looks', label: 'Appearance', of: LooksTab },
  { id: 'settings', label: 'Settings', of: SettingsTab },
  { id: 'embed', label: 'Embed', of: EmbedTab },
] as const

/** One portal: its customers and their links, its looks beside a preview, its settings, and the code that embeds it. */
export function PortalDetail({
  row: portal,
  onClose,
}: {
  readonly row: Portal
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.portals.remove)
  const { of: Tab } = useTab(TABS)
  const { id, name, url, enabled, customer_count } = portal
  return (
    <ResourceDetail
      label="Portal"
      name={name}
      path={`portals/${id}`}
      chip={<StateChip isOn={enabled === 1} />}
      onClose={onClose}
      meta={
        <>
          <CopyMeta text={url} label="Copy the address" />
          <CopyMeta text={id} label="Copy ID" />
          <span>{counted(customer_count, 'customer')}</span>
        </>
      }
      copied={{ label: 'Copy the address', text: url, said: 'Address copied' }}
      actions={
        <Switch
          enabled={enabled === 1}
          route={routes.portals.update}
          rooms={['portals']}
          set={(client, on) => client.portals.update({ id, enabled: on })}
          titles={{ off: 'Ends all sessions immediately. Deliveries continue', on: 'Customers can use it again' }}
          said={{ off: 'Turned off. Nobody can use the portal. Deliveries continue.', on: 'Turned on.' }}
        />
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'Postroad also deletes the portal’s customers, links and destinations, and cancels waiting deliveries. To close the page for a while, turn the portal off.',
        may,
        rooms: ['portals', 'destinations', 'deliveries'],
        run: (client) => client.portals.remove({ id }),
      }}
    >
      <Tab portal={portal} />
    </ResourceDetail>
  )
}
