import { routes } from '@postroad/contract'
import { Settings } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useSearchState } from '../../../data/go.tsx'
import { useRefusal } from '../../../data/place.ts'
import { PagedScreen, type PagedSearch } from '../../../parts/paged-screen.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { Light, LightChip } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { ChannelDialog } from './channel-dialog.tsx'
import { AlertPanel } from './panel.tsx'
import { SettingsDialog } from './settings-dialog.tsx'
import { alertLight, titleOf, type Alert } from './words.ts'

/** A list of runs calls the time of a row its creation. */
type Row = Alert & { readonly created_at: string }

const VIEWS = [
  { id: '', label: 'Open' },
  { id: 'resolved', label: 'Resolved' },
  { id: 'all', label: 'All' },
] as const

const STATE: Column<Row> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={alertLight(row)} />,
}
const WHAT: Column<Row> = {
  id: 'what',
  label: 'Alert',
  width: 'minmax(150px,1fr)',
  plain: true,
  cell: ({ type, subject }) => <TwoLines top={titleOf(type)} below={subject.name} />,
}
const COLUMNS: readonly Column<Row>[] = [
  STATE,
  WHAT,
  {
    id: 'why',
    label: 'Why',
    width: 'minmax(180px,2fr)',
    cell: ({ text }) => (
      <span className="line-clamp-2 leading-4 text-ink-2 group-data-inline/cell:line-clamp-none" title={text}>
        {text}
      </span>
    ),
  },
  {
    id: 'since',
    label: 'Since',
    width: '108px',
    align: 'right',
    cell: ({ opened_at }) => (
      <span className="text-ink-3">
        <Ago at={opened_at} />
      </span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '104px',
    align: 'right',
    cell: (row) => <LightChip of={alertLight(row)} />,
  },
]
const SLIM: readonly Column<Row>[] = [STATE, WHAT]

/** Alerts: what needs attention, since when and why, and the channels that report it. */
export function Screen(): ReactElement {
  const [{ view }] = useSearchState<PagedSearch>()
  const [dialog, setDialog] = useState<'settings' | 'channel' | undefined>()
  const refusal = useRefusal(routes.alerts.createChannel)
  const state = view === 'all' ? undefined : view === 'resolved' ? ('resolved' as const) : ('open' as const)
  const close = (): void => setDialog(undefined)
  const add = (
    <Button disabled={refusal !== undefined} title={refusal} onClick={() => setDialog('channel')}>
      Add a channel
    </Button>
  )
  return (
    <>
      <PagedScreen<Row>
        title="Alerts"
        one="alert"
        listKey={['alerts', 'list', state]}
        read={async (client, { limit, cursor, signal }) => {
          const { alerts, next_cursor } = await client.alerts.list({ state, limit, cursor }, { signal })
          return { rows: alerts.map((alert) => ({ ...alert, created_at: alert.opened_at })), next_cursor }
        }}
        columns={COLUMNS}
        slim={SLIM}
        views={VIEWS}
        isFiltered={view === 'resolved'}
        call={{ path: 'alerts', query: { state } }}
        actions={
          <>
            {add}
            <Button icon={<Settings className="size-4" strokeWidth={1.5} />} onClick={() => setDialog('settings')}>
              Rules
            </Button>
          </>
        }
        never={{
          title: 'Nothing needs attention',
          text: 'An alert opens here when a destination fails, a backlog grows old, signatures fail, a source lags, a workflow fails, or a key or certificate is about to expire. It resolves by itself. Add a channel to hear of it in Slack, by email or in PagerDuty.',
          action: add,
        }}
        panel={AlertPanel}
      />
      {dialog === 'channel' && <ChannelDialog onClose={close} />}
      {dialog === 'settings' && <SettingsDialog onClose={close} />}
    </>
  )
}
