import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllAgents, useAllAiTriggers, type AiTrigger } from '../../../data/automation-lists.ts'
import { RunBars } from '../../../parts/ai-run-bars.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { whenText } from '../../../parts/workflow/step-text.ts'
import { Chip, Light } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { TriggerDetail } from './detail.tsx'
import { triggerLight } from './draft.ts'

const STATE: Column<AiTrigger> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={triggerLight(row)} />,
}
const NAME: Column<AiTrigger> = {
  id: 'name',
  label: 'Trigger',
  width: 'minmax(140px,1.2fr)',
  plain: true,
  cell: ({ name, dataset, conditions }) => (
    <TwoLines
      top={name}
      below={
        <>
          <span className="mono">{dataset}</span>, {conditions.length === 0 ? 'every record' : whenText(conditions)}
        </>
      }
    />
  ),
}

const COLUMNS: readonly Column<AiTrigger>[] = [
  STATE,
  NAME,
  { id: 'agent', label: 'Agent', width: 'minmax(120px,1fr)', cell: ({ agent_id }) => <AgentName id={agent_id} /> },
  {
    id: 'output',
    label: 'Output dataset',
    width: 'minmax(130px,1fr)',
    cell: ({ output_dataset }) =>
      output_dataset === null ? (
        <span className="text-ink-3">no dataset</span>
      ) : (
        <span className="mono text-data text-ink-2">{output_dataset}</span>
      ),
  },
  { id: 'runs', label: 'Last 20 runs', width: '122px', cell: ({ id }) => <RunBars of={{ trigger_id: id }} /> },
  {
    id: 'rate',
    label: 'Per minute',
    width: '92px',
    align: 'right',
    cell: ({ max_per_minute }) => (
      <span className="mono text-data text-ink-2">{max_per_minute.toLocaleString('en')}</span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '72px',
    align: 'right',
    cell: (row) => (row.active ? <span className="text-ink-3">on</span> : <Chip tone="paused">off</Chip>),
  },
]

function AgentName({ id }: { readonly id: string }): ReactElement {
  const name = useAllAgents().data?.find((agent) => agent.id === id)?.name
  return <span className="truncate text-ink-2">{name ?? id}</span>
}

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'on', label: 'On', has: ({ active }: AiTrigger) => active },
  { id: 'off', label: 'Off', has: ({ active }: AiTrigger) => !active },
] as const

/** AI triggers: each runs an agent on matching records. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="AI triggers"
      one="trigger"
      asked={useAllAiTriggers()}
      columns={COLUMNS}
      slim={[STATE, NAME]}
      views={VIEWS}
      textOf={({ id, name, dataset, output_dataset }) => [id, name, dataset, output_dataset ?? ''].join(' ')}
      create={{ label: 'New trigger', route: routes.triggers.create, dialog: CreateDialog }}
      path="triggers"
      detail={TriggerDetail}
      never={{
        title: 'No AI triggers yet',
        text: 'A trigger runs an agent on each matching record in a dataset. Postroad stores the record and its run in one transaction, so no run is lost.',
      }}
    />
  )
}
