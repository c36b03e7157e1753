import { routes } from '@postroad/contract'
import { Ellipsis } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import type { Webhook } from '../../data/names.ts'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl } from '../../parts/commands.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyMeta, Detail } from '../../parts/detail.tsx'
import type { ResourceSearch } from '../../parts/resource-screen.tsx'
import { useKeys } from '../../shell/keys.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton, useCopy } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { needs } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toast.tsx'
import { AccessTab } from './access-tab.tsx'
import { ActivityTab } from './activity-tab.tsx'
import { masked, StateChip } from './columns.tsx'
import { RecordsTab } from './records-tab.tsx'
import { RoutingTab } from './routing-tab.tsx'
import { SetupTab } from './setup-tab.tsx'
import { useActivity } from './use-activity.ts'
import { VerificationTab } from './verification-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const TABS = [
  { id: 'activity', label: 'Activity', of: ActivityTab },
  { id: 'records', label: 'Records', of: RecordsTab },
  { id: 'setup', label: 'Setup', of: SetupTab },
  { id: 'verification', label: 'Verification', of: VerificationTab },
  { id: 'routing', label: 'Criteria and mappings', of: RoutingTab },
  { id: 'access', label: 'Access', of: AccessTab },
  { id: 'versions', label: 'Versions', of: VersionsTab },
] as const

/** One endpoint: what came, how it is sent to, who may, what becomes of it, and what it was before. */
export function EndpointDetail({ row: webhook, onClose }: { readonly row: Webhook; readonly onClose: () => void }): ReactElement {
  const [search, setSearch] = useSearchState<ResourceSearch>()
  const [isRemoving, setRemoving] = useState(false)
  const { project } = usePlace()
  const copy = useCopy()
  const may = useMay(routes.webhooks.update)
  const remove = useChange(['webhooks'], async (client) => {
    await client.webhooks.remove({ id: webhook.id })
    // Before the list is read anew: then this is not there any more.
    onClose()
  })
  const curl = (): void => void copy(adminCurl({ project, path: `webhooks/${webhook.id}` }), 'Copied as curl')
  const { id: tab, of: Tab } = TABS.find(({ id }) => id === search.tab) ?? TABS[0]
  const go = (to: string): void => setSearch({ tab: to === 'activity' ? undefined : to })
  useKeys({ c: curl, y: () => void copy(webhook.public_url, 'URL copied'), ...Object.fromEntries(TABS.map(({ id }, index) => [String(index + 1), () => go(id)])) })
  return (
    <Detail
      label="Endpoint"
      title={webhook.name}
      chip={<StateChip of={webhook} />}
      onClose={onClose}
      meta={<><CopyButton text={webhook.public_url} label="Copy the URL" className="mono min-w-0 text-ink-2"><span className="truncate">{masked(webhook)}</span></CopyButton><CopyMeta text={webhook.id} label="Copy the id" /><Summary id={webhook.id} /></>}
      actions={
        <>
          <Switch webhook={webhook} />
          <Menu
            align="end"
            label="More"
            className="grid size-7 place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink"
            items={[
              { label: 'Copy the URL', hint: 'y', go: () => void copy(webhook.public_url, 'URL copied') },
              { label: 'Copy as curl', hint: 'c', go: curl },
              { label: 'Copy a link to it', go: () => void copy(location.href, 'Link copied') },
              'line',
              { label: 'Delete…', danger: true, disabled: !may, go: () => setRemoving(true) },
            ]}
          >
            <Ellipsis className="size-4" strokeWidth={1.5} aria-hidden />
          </Menu>
        </>
      }
    >
      <Tabs label="Endpoint" tabs={TABS} at={tab} go={go}><Tab webhook={webhook} /></Tabs>
      {isRemoving && (
        <Confirm
          title={`Delete ${webhook.name}?`}
          text="Its URL answers 404 from then on, and senders see that. What it received stays."
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

function Summary({ id }: { readonly id: string }): ReactElement | null {
  const summary = useActivity(id)?.summary
  if (summary === undefined) return null
  return <span>{summary.received.toLocaleString('en')} received, {summary.rejected.toLocaleString('en')} refused in {summary.window_hours} h</span>
}

function Switch({ webhook: { id, enabled } }: { readonly webhook: Webhook }): ReactElement {
  const may = useMay(routes.webhooks.update)
  const toast = useToast()
  const change = useChange(['webhooks'], (client) => client.webhooks.update({ id, enabled: !enabled }))
  return (
    <Button
      disabled={!may || change.isPending}
      title={may ? (enabled ? 'Senders are answered 503 and usually try again' : 'Accepts requests again') : needs(routes.webhooks.update.role)}
      onClick={() => change.mutate(undefined, { onSuccess: () => toast({ text: enabled ? 'Switched off: senders are answered 503 from now on.' : 'Switched on.' }), onError: (error) => toast({ text: error.message, kind: 'fail' }) })}
    >
      {enabled ? 'Switch off' : 'Switch on'}
    </Button>
  )
}
