import { routes } from '@postroad/contract'
import type { Client } from '@postroad/sdk'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useMay, useRefusal } from '../../../data/place.ts'
import type { CronTrigger, Origin } from '../../../data/source-lists.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { Switch } from '../../../parts/switch.tsx'
import { Button } from '../../../ui/button.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { StateChip } from './columns.tsx'
import { kindLabel, kindOf, placeOf } from './origin.ts'
import { CronSettings, SourceSettingsForm, WsSettings } from './settings-tab.tsx'
import { CronStatus, SourceStatus, WsStatus } from './status-tab.tsx'

const TABS = [
  { id: 'status', label: 'Status' },
  { id: 'settings', label: 'Settings' },
] as const

type Api = {
  readonly path: string
  readonly route: Parameters<typeof useMay>[0]
  readonly set: (client: Client, enabled: boolean) => Promise<unknown>
  readonly remove: (client: Client) => Promise<unknown>
  readonly removal: string
  readonly off: string
  readonly on: string
}

/** The calls and sentences of each kind. */
function apiOf({ of, id }: Origin): Api {
  if (of === 'cron')
    return {
      path: `cron-triggers/${id}`,
      route: routes.cronTriggers.update,
      set: (client, enabled) => client.cronTriggers.update({ id, enabled }),
      remove: (client) => client.cronTriggers.remove({ id }),
      removal: 'Events from past runs are not deleted.',
      off: 'The schedule does not run until you turn it on again.',
      on: 'The next run is at the next scheduled time. Missed times are skipped.',
    }
  if (of === 'ws')
    return {
      path: `ws-triggers/${id}`,
      route: routes.wsTriggers.update,
      set: (client, enabled) => client.wsTriggers.update({ id, enabled }),
      remove: (client) => client.wsTriggers.remove({ id }),
      removal: 'Postroad closes the connection. Past events are not deleted.',
      off: 'Postroad closes the connection. Messages are lost until you turn it on again.',
      on: 'Postroad connects within seconds.',
    }
  return {
    path: `sources/${id}`,
    route: routes.sources.update,
    set: (client, enabled) => client.sources.update({ id, enabled }),
    remove: (client) => client.sources.remove({ id }),
    removal: 'Postroad deletes the stored secret and the position. Past events are not deleted.',
    off: 'The source stops and retains its position.',
    on: 'The source continues from its position.',
  }
}

/** One source: its state, and its settings. */
export function OriginDetail({
  row: origin,
  onClose,
}: {
  readonly row: Origin
  readonly onClose: () => void
}): ReactElement {
  const api = apiOf(origin)
  const may = useMay(api.route)
  const tab = useTab(TABS)
  const { id, name, row } = origin
  return (
    <ResourceDetail
      label="Source"
      name={name}
      path={api.path}
      chip={<StateChip of={origin} />}
      onClose={onClose}
      meta={
        <>
          <span className="whitespace-nowrap">{kindLabel(kindOf(origin))}</span>
          <span className="mono max-w-[46ch] truncate">{placeOf(origin)}</span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={
        <>
          {origin.of === 'cron' && <RunNow cron={origin.row} />}
          <Switch
            enabled={row.enabled}
            route={api.route}
            rooms={['sources']}
            set={api.set}
            titles={{ off: api.off, on: api.on }}
            said={{ off: `Turned off. ${api.off}`, on: `Turned on. ${api.on}` }}
          />
        </>
      }
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{ verb: 'Delete', text: api.removal, may, rooms: ['sources'], run: api.remove }}
    >
      {tab.id === 'status' ? <Status origin={origin} /> : <Settings origin={origin} />}
    </ResourceDetail>
  )
}

function Status({ origin }: { readonly origin: Origin }): ReactElement {
  if (origin.of === 'cron') return <CronStatus cron={origin.row} />
  return origin.of === 'ws' ? <WsStatus socket={origin.row} /> : <SourceStatus source={origin.row} />
}

function Settings({ origin }: { readonly origin: Origin }): ReactElement {
  if (origin.of === 'cron') return <CronSettings cron={origin.row} />
  return origin.of === 'ws' ? <WsSettings socket={origin.row} /> : <SourceSettingsForm source={origin.row} />
}

function RunNow({ cron: { id, run_requested_at } }: { readonly cron: CronTrigger }): ReactElement {
  const refusal = useRefusal(routes.cronTriggers.run)
  const may = refusal === undefined
  const toast = useToast()
  const run = useChange(['sources'], (client) => client.cronTriggers.run({ id }))
  const isAsked = run_requested_at !== null
  return (
    <Button
      disabled={!may || run.isPending || isAsked}
      title={
        may
          ? isAsked
            ? 'A run is requested but has not started yet'
            : 'Stores one event soon. The schedule does not change'
          : refusal
      }
      onClick={() =>
        run.mutate(undefined, {
          onSuccess: () => toast({ text: 'Postroad stores one event soon. The schedule does not change.' }),
          onError: (error) => toast({ text: error.message, kind: 'fail' }),
        })
      }
    >
      Run now
    </Button>
  )
}
