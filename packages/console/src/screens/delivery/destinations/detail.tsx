import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import type { Destination } from '../../../data/lists.ts'
import { useMay, useRefusal } from '../../../data/place.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { recentText, useRecent } from '../../../parts/recent.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { Button } from '../../../ui/button.tsx'
import { AuthTab } from './auth-tab.tsx'
import { BodyTab } from './body-tab.tsx'
import { StateChip } from './columns.tsx'
import { DeliveriesTab } from './deliveries-tab.tsx'
import { RecoverDialog } from './recover-dialog.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { SigningTab } from './signing-tab.tsx'
import { HealthBanner } from './health-banner.tsx'
import { TestDialog } from './test-dialog.tsx'

const TABS = [
  { id: 'deliveries', label: 'Deliveries', of: DeliveriesTab },
  { id: 'settings', label: 'Settings', of: SettingsTab },
  { id: 'body', label: 'Body', of: BodyTab },
  { id: 'signing', label: 'Signing', of: SigningTab },
  { id: 'auth', label: 'Authentication', of: AuthTab },
] as const

type Props = { readonly row: Destination; readonly onClose: () => void }

/** One destination: its deliveries, its settings and its signing. */
export function DestinationDetail({ row: destination, onClose }: Props): ReactElement {
  const [isRecovering, setRecovering] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const may = useMay(routes.destinations.update)
  const refusal = useRefusal(routes.destinations.test)
  const { of: Tab } = useTab(TABS)
  const { id, name, url, enabled } = destination
  return (
    <ResourceDetail
      label="Destination"
      name={name}
      path={`destinations/${id}`}
      chip={<StateChip of={destination} />}
      onClose={onClose}
      meta={
        <>
          <CopyMeta text={url} label="Copy the URL" />
          <CopyMeta text={id} label="Copy ID" />
          <RecentMeta id={id} />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <>
          <Button
            disabled={refusal !== undefined}
            title={refusal ?? 'Sends a test event now and shows the response'}
            onClick={() => setTesting(true)}
          >
            Send a test
          </Button>
          <Switch
            enabled={enabled}
            route={routes.destinations.update}
            rooms={['destinations', 'deliveries']}
            set={(client, on) => client.destinations.update({ id, enabled: on })}
            titles={{
              off: 'Deliveries wait until you turn it on',
              on: 'Postroad sends the waiting deliveries now',
            }}
            said={{
              off: 'Turned off. Deliveries wait.',
              on: 'Turned on. Postroad sends the waiting deliveries now.',
            }}
          />
        </>
      }
      items={({ calls, copied, link, remove }) => [
        ...calls,
        copied,
        link,
        { label: 'Recover since…', disabled: !may, go: () => setRecovering(true) },
        'line',
        remove,
      ]}
      above={<HealthBanner destination={destination} onRecover={() => setRecovering(true)} />}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        restorable: true,
        text: 'Postroad cancels its pending deliveries. Past deliveries stay in the list.',
        may,
        rooms: ['destinations', 'deliveries'],
        run: (client) => client.destinations.remove({ id }),
      }}
      dialogs={
        <>
          {isTesting && <TestDialog destination={destination} onClose={() => setTesting(false)} />}
          {isRecovering && <RecoverDialog destination={destination} onClose={() => setRecovering(false)} />}
        </>
      }
    >
      <Tab destination={destination} />
    </ResourceDetail>
  )
}

function RecentMeta({ id }: { readonly id: string }): ReactElement | null {
  const recent = useRecent(id)
  return recent === undefined || recent.length === 0 ? null : <span>{recentText(recent)}</span>
}
