import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import type { IngestKey } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { Ago } from '../../../parts/ago.tsx'
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
  { id: 'refused', label: 'Refused', of: RefusedTab },
] as const

/** One key: how it is used, what it opens, what guards it, and what was refused with it. */
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
          <span className="mono text-ink-2">{masked(key)}</span>
          <CopyMeta text={id} label="Copy the id" />
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
      copied={{ label: 'Copy the id', text: id, said: 'Id copied' }}
      actions={
        <Switch
          enabled={enabled}
          route={routes.ingestKeys.update}
          rooms={['ingestKeys']}
          set={(client, on) => client.ingestKeys.update({ id, enabled: on })}
          titles={{ off: 'Who uses it is answered 503, and its streams end', on: 'It works again' }}
          said={{ off: 'Switched off: who uses it is answered 503 from now on.', on: 'Switched on.' }}
        />
      }
      items={({ curl, copied, link, remove }) => [curl, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Revoke',
        text: 'Requests with it are answered 404 from then on, and its streams end. What it sent stays. A revoked key cannot be had back; to stop one for a while, switch it off.',
        may,
        rooms: ['ingestKeys'],
        run: (client) => client.ingestKeys.remove({ id }),
      }}
    >
      <Tab ingestKey={key} />
    </ResourceDetail>
  )
}
