import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllForwarders, type Forwarder } from '../../../data/serving-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { Chip, Light, NONE } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { span } from '../../../ui/time.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { ForwarderDetail } from './detail.tsx'
import { forwarderLight } from './draft.ts'

const STATE: Column<Forwarder> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={forwarderLight(row)} />,
}
const NAME: Column<Forwarder> = {
  id: 'name',
  label: 'Forwarder',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: ({ name, endpoint }) => <TwoLines top={name} below={<span className="mono">{endpoint}</span>} />,
}

function signalColumn(signal: 'logs' | 'traces', label: string): Column<Forwarder> {
  return {
    id: signal,
    label,
    width: 'minmax(100px,150px)',
    cell: ({ progress }) => <Position of={progress[signal]} />,
  }
}

/** How far a signal is behind, and how much was lost. */
function Position({ of }: { readonly of: Forwarder['progress']['logs'] }): ReactElement {
  if (of === null) return NONE
  const lost = of.expired + of.refused
  return (
    <span className="flex flex-col">
      <span className="text-data leading-4 text-ink-2">{span(of.lag_seconds * 1_000)} behind</span>
      <span className={`text-label leading-[14px] ${lost > 0 ? 'text-fail' : 'text-ink-3'}`}>
        {lost > 0 ? `${lost.toLocaleString('en')} lost` : `${of.sent.toLocaleString('en')} sent`}
      </span>
    </span>
  )
}

const COLUMNS: readonly Column<Forwarder>[] = [
  STATE,
  NAME,
  signalColumn('logs', 'Logs'),
  signalColumn('traces', 'Traces'),
  {
    id: 'share',
    label: 'Sampling',
    width: '72px',
    align: 'right',
    cell: ({ sample_rate }) => (
      <span className="mono text-data text-ink-2">{Number((sample_rate * 100).toFixed(2))}%</span>
    ),
  },
  {
    id: 'success',
    label: 'Last accepted',
    width: '110px',
    align: 'right',
    cell: ({ progress }) => {
      const last = [progress.logs?.last_success_at ?? null, progress.traces?.last_success_at ?? null]
        .filter((at) => at !== null)
        .toSorted()
        .at(-1)
      return last === undefined ? (
        <span className="text-ink-3">never</span>
      ) : (
        <span className="text-data text-ink-2">
          <Ago at={last} />
        </span>
      )
    },
  },
  {
    id: 'chip',
    label: 'Status',
    width: '92px',
    align: 'right',
    cell: (row) => {
      const { tone, word } = forwarderLight(row)
      return tone === 'ok' ? <span className="text-ink-3">on</span> : <Chip tone={tone}>{word}</Chip>
    },
  },
]

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ enabled }: Forwarder) => enabled },
  { id: 'off', label: 'Off', has: ({ enabled }: Forwarder) => !enabled },
  { id: 'trouble', label: 'With problems', has: ({ state }: Forwarder) => state === 'failing' },
] as const

/** Forwarders: receivers of the logs and traces of the project. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Forwarding"
      one="forwarder"
      asked={useAllForwarders()}
      columns={COLUMNS}
      slim={[STATE, NAME]}
      views={VIEWS}
      textOf={({ id, name, endpoint, preset }) => [id, name, endpoint, preset].join(' ')}
      create={{ label: 'New forwarder', route: routes.forwarders.create, dialog: CreateDialog }}
      path="forwarders"
      detail={ForwarderDetail}
      never={{
        title: 'No forwarders yet',
        text: 'A forwarder sends the logs and traces of this project to Datadog, Grafana, Honeycomb, New Relic, Axiom, Better Stack or any OpenTelemetry collector. Each event is one trace, with its request, deliveries, workflow runs and AI runs.',
      }}
    />
  )
}
