import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { Webhook } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { CopyButton } from '../../../ui/copy.tsx'
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

/** One endpoint: its activity and records, its setup and access, its routing, and its versions. */
export function EndpointDetail({
  row: webhook,
  onClose,
}: {
  readonly row: Webhook
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.webhooks.update)
  const { of: Tab } = useTab(TABS)
  const { id, name, enabled, public_url } = webhook
  return (
    <ResourceDetail
      label="Endpoint"
      name={name}
      path={`webhooks/${id}`}
      chip={<StateChip of={webhook} />}
      onClose={onClose}
      meta={
        <>
          <CopyButton text={public_url} label="Copy the URL" className="mono min-w-0 text-ink-2">
            <span className="truncate">{masked(webhook)}</span>
          </CopyButton>
          <CopyMeta text={id} label="Copy ID" />
          <Summary id={id} />
        </>
      }
      copied={{ label: 'Copy the URL', text: public_url, said: 'URL copied' }}
      actions={
        <Switch
          enabled={enabled}
          route={routes.webhooks.update}
          rooms={['webhooks']}
          set={(client, on) => client.webhooks.update({ id, enabled: on })}
          titles={{ off: 'Postroad returns 503 to senders, which usually retry', on: 'Accepts requests again' }}
          said={{ off: 'Turned off. Postroad returns 503 to senders.', on: 'Turned on.' }}
        />
      }
      items={({ calls, copied, link, remove }) => [copied, ...calls, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        restorable: true,
        text: 'Postroad returns 404 to senders. Events that the endpoint received are not deleted.',
        may,
        rooms: ['webhooks'],
        run: (client) => client.webhooks.remove({ id }),
      }}
    >
      <Tab webhook={webhook} />
    </ResourceDetail>
  )
}

const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`

function Summary({ id }: { readonly id: string }): ReactElement | null {
  const summary = useActivity(id)?.summary
  if (summary === undefined) return null
  return (
    <span>
      {summary.received.toLocaleString('en')} received, {summary.rejected.toLocaleString('en')} rejected in{' '}
      {summary.window_hours} h
      {summary.duplicates > 0 && (
        <>
          {', '}
          <span title="Repeats of an event with the same key and body. Postroad answers them with 200 and stores nothing.">
            {counted(summary.duplicates, 'duplicate')}
          </span>
        </>
      )}
      {summary.key_reused > 0 && (
        <>
          {', '}
          <span title="Events with the key of an earlier event and another body. Postroad stores each of them.">
            {counted(summary.key_reused, 'reused key')}
          </span>
        </>
      )}
    </span>
  )
}
