import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAllWorkflows, type Workflow, type WorkflowInstance } from '../../../data/automation-lists.ts'
import { To, useSearchState } from '../../../data/go.tsx'
import { useMay } from '../../../data/place.ts'
import { Ago } from '../../../ui/ago.tsx'
import { instanceLight } from '../../../parts/automation-lights.ts'
import { FilterMenu } from '../../../parts/filter-menu.tsx'
import { PagedScreen, type PagedSearch } from '../../../parts/paged-screen.tsx'
import { RunDialog } from '../../../parts/workflow/run-dialog.tsx'
import { Light, LightChip, NONE } from '../../../ui/glyph.tsx'
import { Menu } from '../../../ui/menu.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Countdown, Elapsed, Time, took } from '../../../ui/time.tsx'
import { RunPanel } from './panel.tsx'

type RunsSearch = PagedSearch & { readonly workflow?: string; readonly record?: string }

/** Each view is a list of states, as the API takes it. */
const VIEWS = [
  { id: '', label: 'All' },
  { id: 'ongoing', label: 'Ongoing', states: 'pending,running,sleeping,waiting,retrying,paused' },
  { id: 'failed', label: 'Failed', states: 'failed' },
  { id: 'completed', label: 'Completed', states: 'completed' },
  { id: 'cancelled', label: 'Canceled', states: 'cancelled' },
] as const

const STATE: Column<WorkflowInstance> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (row) => <Light of={instanceLight(row)} />,
}
const TIME: Column<WorkflowInstance> = {
  id: 'started',
  label: 'Started',
  width: '96px',
  cell: ({ created_at }) => <Time at={created_at} isDayShown={false} />,
}
const NAME: Column<WorkflowInstance> = {
  id: 'workflow',
  label: 'Workflow',
  width: 'minmax(140px,1.2fr)',
  plain: true,
  cell: ({ workflow, workflow_id, version }) => (
    <TwoLines top={workflow ?? workflow_id} below={workflow === null ? 'deleted' : `version ${version}`} />
  ),
}

const COLUMNS: readonly Column<WorkflowInstance>[] = [
  STATE,
  TIME,
  NAME,
  {
    id: 'record',
    label: 'Record in',
    width: 'minmax(120px,1fr)',
    cell: ({ dataset, started_by }) => (
      <TwoLines
        top={<span className="mono text-data leading-4 font-text">{dataset}</span>}
        below={started_by === 'hand' ? 'started manually or by the API' : 'started by the record'}
      />
    ),
  },
  { id: 'now', label: 'Now', width: 'minmax(130px,1.2fr)', cell: (row) => <Now of={row} /> },
  {
    id: 'took',
    label: 'Duration',
    width: '72px',
    align: 'right',
    cell: ({ created_at, ended_at }) => (
      <span className="mono text-data text-ink-2">
        {ended_at === null ? <Elapsed since={created_at} /> : took(Date.parse(ended_at) - Date.parse(created_at))}
      </span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '104px',
    align: 'right',
    cell: (row) => <LightChip of={instanceLight(row)} />,
  },
]

const SLIM: readonly Column<WorkflowInstance>[] = [STATE, TIME, NAME]

/** The reason for the state: an error, the subject of a wait, or the time of the end. */
function Now({ of: { error, waits_for, ended_at } }: { readonly of: WorkflowInstance }): ReactElement {
  if (error !== null && ended_at !== null)
    return (
      <span
        className="line-clamp-2 text-data leading-4 break-words text-fail group-data-inline/cell:line-clamp-none"
        title={error.message}
      >
        {error.message}
      </span>
    )
  if (ended_at !== null)
    return (
      <span className="text-data text-ink-3">
        ended <Ago at={ended_at} />
      </span>
    )
  if (waits_for === null) return NONE
  return (
    <span className="text-data leading-4 text-ink-2">
      {WAITS[waits_for.kind]}
      {waits_for.kind === 'event' && (
        <>
          {' '}
          <span className="mono">{waits_for.dataset}</span>
        </>
      )}
      {'until' in waits_for && waits_for.until !== null && (
        <span className="text-ink-3">
          , {ENDS[waits_for.kind]} <Countdown to={waits_for.until} />
        </span>
      )}
    </span>
  )
}

const WAITS: Readonly<Record<NonNullable<WorkflowInstance['waits_for']>['kind'], string>> = {
  time: 'waiting',
  retry: 'waiting',
  event: 'waiting for an event in',
  delivery: 'waiting for a delivery',
  ai_run: 'waiting for an AI run',
}
/** The end of a wait that has a time. */
const ENDS = { time: 'continues', retry: 'retries', event: 'times out' } as const

/** Runs of workflows: each has its steps with their values. */
export function Screen(): ReactElement {
  const [{ view, workflow, record }, setSearch] = useSearchState<RunsSearch>()
  const workflows = useAllWorkflows().data ?? []
  const [running, setRunning] = useState<Workflow | undefined>()
  const shown = VIEWS.find(({ id }) => id === view)
  const state = shown !== undefined && 'states' in shown ? shown.states : undefined
  const query = { state, workflow_id: workflow, record_id: record }
  return (
    <>
      <PagedScreen
        title="Workflow runs"
        one="run"
        listKey={['workflowInstances', 'list', query]}
        read={async (client, { limit, cursor, signal }) => {
          const { instances, next_cursor } = await client.workflowInstances.list(
            { ...query, limit, cursor },
            { signal },
          )
          return { rows: instances, next_cursor }
        }}
        columns={COLUMNS}
        slim={SLIM}
        views={VIEWS}
        filters={
          <>
            {record !== undefined && (
              <FilterMenu
                label="Record"
                every="All records"
                of={[]}
                at={record}
                go={(id) => setSearch({ record: id })}
              />
            )}
            <FilterMenu
              label="Workflow"
              every="All workflows"
              of={workflows}
              at={workflow}
              go={(id) => setSearch({ workflow: id, sel: undefined })}
            />
          </>
        }
        isFiltered={state !== undefined || workflow !== undefined || record !== undefined}
        call={{ path: 'workflow-instances', query }}
        actions={<RunMenu workflows={workflows} go={setRunning} />}
        never={{
          title: 'No workflow runs yet',
          text: (
            <>
              While a workflow is on, each matching record in its dataset starts a run.{' '}
              <To screen="workflows" className="text-accent underline">
                Go to the workflows
              </To>
            </>
          ),
        }}
        panel={RunPanel}
      />
      {running !== undefined && <RunDialog workflow={running} onClose={() => setRunning(undefined)} />}
    </>
  )
}

/** Starts a run of the chosen workflow. */
function RunMenu({
  workflows,
  go,
}: {
  readonly workflows: readonly Workflow[]
  readonly go: (workflow: Workflow) => void
}): ReactElement | null {
  const may = useMay(routes.workflows.run)
  if (workflows.length === 0 || !may) return null
  return (
    <Menu
      align="end"
      items={workflows.map((workflow) => ({ label: workflow.name, go: () => go(workflow) }))}
      className="inline-flex h-7 items-center rounded-button border border-ink bg-ink px-2.5 font-control text-on-ink hover:opacity-90"
    >
      Run on a record
    </Menu>
  )
}
