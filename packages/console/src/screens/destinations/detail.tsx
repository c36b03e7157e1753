import { routes } from '@postroad/contract'
import { Ellipsis } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import type { Destination } from '../../data/names.ts'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyMeta, Detail } from '../../parts/detail.tsx'
import { recentText, useRecent } from '../../parts/recent.tsx'
import type { ResourceSearch } from '../../parts/resource-screen.tsx'
import { useKeys } from '../../shell/keys.ts'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { needs } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toast.tsx'
import { AuthTab } from './auth-tab.tsx'
import { BodyTab } from './body-tab.tsx'
import { StateChip } from './columns.tsx'
import { DeliveriesTab } from './deliveries-tab.tsx'
import { RecoverDialog } from './recover-dialog.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { SigningTab } from './signing-tab.tsx'
import { Standing } from './standing.tsx'
import { TestDialog } from './test-dialog.tsx'

const TABS = [
  { id: 'deliveries', label: 'Deliveries' },
  { id: 'settings', label: 'Settings' },
  { id: 'body', label: 'Body' },
  { id: 'signing', label: 'Signing' },
  { id: 'auth', label: 'Authentication' },
] as const
type TabId = (typeof TABS)[number]['id']

type Props = { readonly row: Destination; readonly onClose: () => void }

/** One destination: what was sent there, how it is reached, what signs it. */
export function DestinationDetail({ row: destination, onClose }: Props): ReactElement {
  const [search, setSearch] = useSearchState<ResourceSearch>()
  const [isRemoving, setRemoving] = useState(false)
  const [isRecovering, setRecovering] = useState(false)
  const [isTesting, setTesting] = useState(false)
  const { project } = usePlace()
  const copy = useCopy()
  const may = useMay(routes.destinations.update)
  const remove = useChange(['destinations', 'deliveries'], async (client) => {
    await client.destinations.remove({ id: destination.id })
    // Before the list is read anew: then this is not there any more.
    onClose()
  })
  const path = `destinations/${destination.id}`
  const curl = (): void => void copy(adminCurl({ project, path }), 'Copied as curl')
  const tab = TABS.find(({ id }) => id === search.tab)?.id ?? 'deliveries'
  const go = (to: TabId): void => setSearch({ tab: to === 'deliveries' ? undefined : to })
  useKeys({ c: curl, y: () => void copy(destination.id, 'Id copied'), ...Object.fromEntries(TABS.map(({ id }, index) => [String(index + 1), () => go(id)])) })
  return (
    <Detail
      label="Destination"
      title={destination.name}
      chip={<StateChip of={destination} />}
      onClose={onClose}
      meta={<><CopyMeta text={destination.url} label="Copy the URL" /><CopyMeta text={destination.id} label="Copy the id" /><RecentMeta id={destination.id} /></>}
      actions={
        <>
          <Button disabled={!may} title={may ? 'Sends something there now, and shows the answer' : needs(routes.destinations.test.role)} onClick={() => setTesting(true)}>Send a test</Button>
          <Switch destination={destination} />
          <Menu
            align="end"
            label="More"
            className="grid size-7 place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink"
            items={[
              { label: 'Copy as curl', hint: 'c', go: curl },
              { label: 'Copy the id', hint: 'y', go: () => void copy(destination.id, 'Id copied') },
              { label: 'Copy a link to it', go: () => void copy(location.href, 'Link copied') },
              { label: 'Recover since…', disabled: !may, go: () => setRecovering(true) },
              'line',
              { label: 'Delete…', danger: true, disabled: !may, go: () => setRemoving(true) },
            ]}
          >
            <Ellipsis className="size-4" strokeWidth={1.5} aria-hidden />
          </Menu>
        </>
      }
    >
      <Standing destination={destination} onRecover={() => setRecovering(true)} />
      <Tabs label="Destination" tabs={TABS} at={tab} go={go}>
        {tab === 'deliveries' && <DeliveriesTab destination={destination} />}
        {tab === 'settings' && <SettingsTab destination={destination} />}
        {tab === 'body' && <BodyTab destination={destination} />}
        {tab === 'signing' && <SigningTab destination={destination} />}
        {tab === 'auth' && <AuthTab destination={destination} />}
      </Tabs>
      {isTesting && <TestDialog destination={destination} onClose={() => setTesting(false)} />}
      {isRecovering && <RecoverDialog destination={destination} onClose={() => setRecovering(false)} />}
      {isRemoving && (
        <Confirm
          title={`Delete ${destination.name}?`}
          text="What is outstanding for it is cancelled, and its signing secret is gone. What was delivered stays in the list."
          verb="Delete"
          isRunning={remove.isPending}
          error={remove.error}
          go={() => remove.mutate(undefined)}
          onClose={() => setRemoving(false)}
        />
      )}
    </Detail>
  )
}

function RecentMeta({ id }: { readonly id: string }): ReactElement | null {
  const recent = useRecent(id)
  return recent === undefined || recent.length === 0 ? null : <span>{recentText(recent)}</span>
}

function Switch({ destination: { id, enabled } }: { readonly destination: Destination }): ReactElement {
  const may = useMay(routes.destinations.update)
  const toast = useToast()
  const change = useChange(['destinations', 'deliveries'], (client, on: boolean) => client.destinations.update({ id, enabled: on }))
  return (
    <Button
      disabled={!may || change.isPending}
      title={may ? (enabled ? 'Its deliveries wait until it is switched on' : 'What waits is sent now') : needs(routes.destinations.update.role)}
      onClick={() => change.mutate(!enabled, { onError: (error) => toast({ text: error.message, kind: 'fail' }), onSuccess: () => toast({ text: enabled ? 'Switched off. Its deliveries wait.' : 'Switched on. What waited is sent now.' }) })}
    >
      {enabled ? 'Switch off' : 'Switch on'}
    </Button>
  )
}
