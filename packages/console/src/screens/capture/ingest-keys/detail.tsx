import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { IngestKey } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { masked, StateChip } from './columns.tsx'
import { RefusedTab } from './refused-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { SigningTab } from './signing-tab.tsx'
import { UseTab } from './use-tab.tsx'

const TABS = [
  { id: 'use', label: 'Use', of: UseTab },
  { id: 'settings', label: 'Settings', of: SettingsTab },
  { id: 'signing', label: 'Signature', of: SigningTab },
  { id: 'refused', label: 'Rejected', of: RefusedTab },
] as const

/** One key: its use, its scopes, its signature, and the requests that were refused with it. */
export function IngestKeyDetail({
  row: key,
  onClose,
}: {
  readonly row: IngestKey
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.ingestKeys.remove)
  const { of: Tab } = useTab(TABS)
  const { id, name, enabled, last_used_at } = key
  return (
    <ResourceDetail
      label="Ingest key"
      name={name}
      path={`ingest-keys/${id}`}
      chip={<StateChip enabled={enabled} />}
      onClose={onClose}
      meta={
        <>
          <span>
            key <span className="mono text-ink-2">{masked(key)}</span>
          </span>
          <CopyMeta text={id} label="Copy ID" />
          <span>
            {last_used_at === null ? (
              'never used'
            ) : (
              <>
                used <Ago at={last_used_at} />
              </>
            )}
          </span>
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <Switch
          enabled={enabled}
          route={routes.ingestKeys.update}
          rooms={['ingestKeys']}
          set={(client, on) => client.ingestKeys.update({ id, enabled: on })}
          titles={{ off: 'Requests with this key get 503, and its streams end', on: 'The key is active again' }}
          said={{ off: 'Turned off. Requests with this key get 503.', on: 'Turned on.' }}
        />
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Revoke',
        text: 'Requests with this key get 404, and its streams end. Events that were sent with the key are not deleted. You cannot restore a revoked key. To stop a key for a while, turn it off.',
        may,
        rooms: ['ingestKeys'],
        run: (client) => client.ingestKeys.remove({ id }),
      }}
    >
      <Tab ingestKey={key} />
    </ResourceDetail>
  )
}
