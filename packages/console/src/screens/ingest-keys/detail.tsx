import { routes } from '@postroad/contract'
import { Ellipsis } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import { useMay, usePlace } from '../../data/place.ts'
import { Ago } from '../../parts/ago.tsx'
import { adminCurl } from '../../parts/commands.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyMeta, Detail } from '../../parts/detail.tsx'
import type { ResourceSearch } from '../../parts/resource-screen.tsx'
import { useKeys } from '../../shell/keys.ts'
import { Button } from '../../ui/button.tsx'
import { useCopy } from '../../ui/copy.tsx'
import { Menu } from '../../ui/menu.tsx'
import { needs } from '../../ui/states.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toast.tsx'
import { masked, StateChip } from './columns.tsx'
import type { IngestKey } from './draft.ts'
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
export function IngestKeyDetail({ row: key, onClose }: { readonly row: IngestKey; readonly onClose: () => void }): ReactElement {
  const [search, setSearch] = useSearchState<ResourceSearch>()
  const [isRevoking, setRevoking] = useState(false)
  const { project } = usePlace()
  const copy = useCopy()
  const may = useMay(routes.ingestKeys.remove)
  const revoke = useChange(['ingestKeys'], async (client) => {
    await client.ingestKeys.remove({ id: key.id })
    // Before the list is read anew: then this is not there any more.
    onClose()
  })
  const curl = (): void => void copy(adminCurl({ project, path: `ingest-keys/${key.id}` }), 'Copied as curl')
  const { id: tab, of: Tab } = TABS.find(({ id }) => id === search.tab) ?? TABS[0]
  const go = (to: string): void => setSearch({ tab: to === TABS[0].id ? undefined : to })
  useKeys({ c: curl, y: () => void copy(key.id, 'Id copied'), ...Object.fromEntries(TABS.map(({ id }, index) => [String(index + 1), () => go(id)])) })
  return (
    <Detail
      label="Ingest key"
      title={key.name}
      chip={<StateChip enabled={key.enabled} />}
      onClose={onClose}
      meta={<><span className="mono text-ink-2">{masked(key)}</span><CopyMeta text={key.id} label="Copy the id" /><span>{key.last_used_at === null ? 'never used' : <>used <Ago at={key.last_used_at} /></>}</span></>}
      actions={
        <>
          <Switch of={key} />
          <Menu
            align="end"
            label="More"
            className="grid size-7 place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink"
            items={[
              { label: 'Copy as curl', hint: 'c', go: curl },
              { label: 'Copy the id', hint: 'y', go: () => void copy(key.id, 'Id copied') },
              { label: 'Copy a link to it', go: () => void copy(location.href, 'Link copied') },
              'line',
              { label: 'Revoke…', danger: true, disabled: !may, go: () => setRevoking(true) },
            ]}
          >
            <Ellipsis className="size-4" strokeWidth={1.5} aria-hidden />
          </Menu>
        </>
      }
    >
      <Tabs label="Ingest key" tabs={TABS} at={tab} go={go}><Tab ingestKey={key} /></Tabs>
      {isRevoking && (
        <Confirm
          title={`Revoke ${key.name}?`}
          text="Requests with it are answered 404 from then on, and its streams end. What it sent stays. A revoked key cannot be had back; to stop one for a while, switch it off."
          verb="Revoke"
          isRunning={revoke.isPending}
          error={revoke.error}
          go={() => revoke.mutate(undefined)}
          onClose={() => setRevoking(false)}
        />
      )}
    </Detail>
  )
}

function Switch({ of: { id, enabled } }: { readonly of: IngestKey }): ReactElement {
  const may = useMay(routes.ingestKeys.update)
  const toast = useToast()
  const change = useChange(['ingestKeys'], (client) => client.ingestKeys.update({ id, enabled: !enabled }))
  return (
    <Button
      disabled={!may || change.isPending}
      title={may ? (enabled ? 'Who uses it is answered 503, and its streams end' : 'It works again') : needs(routes.ingestKeys.update.role)}
      onClick={() => change.mutate(undefined, { onSuccess: () => toast({ text: enabled ? 'Switched off: who uses it is answered 503 from now on.' : 'Switched on.' }), onError: (error) => toast({ text: error.message, kind: 'fail' }) })}
    >
      {enabled ? 'Switch off' : 'Switch on'}
    </Button>
  )
}
