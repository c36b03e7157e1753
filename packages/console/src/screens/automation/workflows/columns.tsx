import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import type { Workflow, WorkflowInstance } from '../../../data/automation-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { instanceLight, isOngoing, workflowLight } from '../../../parts/automation-lights.ts'
import { RecentBars } from '../../../parts/recent.tsx'
import { whenText } from '../../../parts/workflow/step-text.ts'
import { Chip, Light } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'

const LAST = 20
const POLL_MS = 15_000

const STATE: Column<Workflow> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={workflowLight(row)} />,
}
const NAME: Column<Workflow> = {
  id: 'name',
  label: 'Workflow',
  width: 'minmax(140px,1.4fr)',
  plain: true,
  cell: ({ name, slug }) => <TwoLines top={name} below={<span className="mono">{slug}</span>} />,
}

export const COLUMNS: readonly Column<Workflow>[] = [
  STATE,
  NAME,
  {
    id: 'entry',
    label: 'Starts on',
    width: 'minmax(140px,1.4fr)',
    cell: ({ entry_dataset, entry_conditions }) => (
      <TwoLines
        top={<span className="mono text-data leading-4 font-text">{entry_dataset}</span>}
        below={entry_conditions.length === 0 ? 'every record' : whenText(entry_conditions)}
      />
    ),
  },
  { id: 'runs', label: 'Last 20 runs', width: '122px', cell: ({ id }) => <RecentRuns id={id} /> },
  { id: 'counts', label: 'Results', width: 'minmax(110px,170px)', cell: ({ id }) => <Counts id={id} /> },
  {
    id: 'version',
    label: 'Version',
    width: '64px',
    align: 'right',
    cell: ({ version }) => <span className="mono text-data text-ink-2">{version}</span>,
  },
  {
    id: 'updated',
    label: 'Changed',
    width: '88px',
    align: 'right',
    cell: ({ updated_at }) => (
      <span className="text-data text-ink-2">
        <Ago at={updated_at} />
      </span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '64px',
    align: 'right',
    cell: (row) => (row.active ? <span className="text-ink-3">on</span> : <StateChip of={row} />),
  },
]

export const SLIM: readonly Column<Workflow>[] = [STATE, NAME]

export function StateChip({ of }: { readonly of: Pick<Workflow, 'active'> }): ReactElement {
  const { tone, word, text } = workflowLight(of)
  return (
    <span title={text}>
      <Chip tone={tone}>{word}</Chip>
    </span>
  )
}

/** The newest runs of a workflow. */
export function useRecentRuns(id: string): readonly WorkflowInstance[] | undefined {
  return useAsk(
    ['workflowInstances', 'recent', id],
    (client, signal) => client.workflowInstances.list({ workflow_id: id, limit: LAST }, { signal }),
    { everyMs: POLL_MS },
  ).data?.instances
}

function RecentRuns({ id }: { readonly id: string }): ReactElement | null {
  const runs = useRecentRuns(id)
  if (runs === undefined) return null
  return <RecentBars of={runs.map((run) => instanceLight(run).tone)} label={countsText(runs)} />
}

function Counts({ id }: { readonly id: string }): ReactElement | null {
  const runs = useRecentRuns(id)
  if (runs === undefined) return null
  return <span className="truncate text-data text-ink-2">{runs.length === 0 ? 'no runs yet' : countsText(runs)}</span>
}

/** "17 completed, 2 failed, 1 ongoing". */
export function countsText(runs: readonly WorkflowInstance[]): string {
  const count = (has: (run: WorkflowInstance) => boolean): number => runs.filter(has).length
  const counts: readonly (readonly [number, string])[] = [
    [count(({ state }) => state === 'completed'), 'completed'],
    [count(({ state }) => state === 'failed'), 'failed'],
    [count(({ state }) => state === 'cancelled'), 'canceled'],
    [count(isOngoing), 'ongoing'],
  ]
  return counts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number} ${word}`)
    .join(', ')
}
