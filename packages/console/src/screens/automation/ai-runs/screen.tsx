import type { ReactElement } from 'react'
import { useAllAgents, useAllAiTriggers } from '../../../data/automation-lists.ts'
import { To, useSearchState } from '../../../data/go.tsx'
import { aiRunLight, type AiRun } from '../../../parts/ai-run-bars.tsx'
import { FilterMenu } from '../../../parts/filter-menu.tsx'
import { PagedScreen, type PagedSearch } from '../../../parts/paged-screen.tsx'
import { Light, LightChip, NONE } from '../../../ui/glyph.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { Elapsed, Time, took } from '../../../ui/time.tsx'
import { RunPanel } from './panel.tsx'

type RunsSearch = PagedSearch & { readonly agent?: string; readonly trigger?: string; readonly record?: string }

const VIEWS = [
  { id: '', label: 'All' },
  { id: 'queued', label: 'Queued' },
  { id: 'running', label: 'Running' },
  { id: 'succeeded', label: 'Succeeded' },
  { id: 'failed', label: 'Failed' },
  { id: 'skipped', label: 'Skipped' },
  { id: 'cancelled', label: 'Canceled' },
] as const

const STATES: readonly AiRun['state'][] = ['queued', 'running', 'succeeded', 'failed', 'skipped', 'cancelled']

const STATE: Column<AiRun> = {
  id: 'state',
  label: 'State',
  width: '18px',
  hidden: true,
  cell: (run) => <Light of={aiRunLight(run)} />,
}
const TIME: Column<AiRun> = {
  id: 'created',
  label: 'Queued',
  width: '96px',
  cell: ({ created_at }) => <Time at={created_at} isDayShown={false} />,
}
const NAME: Column<AiRun> = {
  id: 'agent',
  label: 'Agent',
  width: 'minmax(130px,1fr)',
  plain: true,
  cell: ({ agent_id, dataset }) => (
    <TwoLines top={<AgentName id={agent_id} />} below={<span className="mono">{dataset}</span>} />
  ),
}

const COLUMNS: readonly Column<AiRun>[] = [
  STATE,
  TIME,
  NAME,
  {
    id: 'output',
    label: 'Output',
    width: 'minmax(160px,2fr)',
    cell: ({ output, error, state }) =>
      error !== null && state !== 'succeeded' ? (
        <span
          className="line-clamp-2 text-data leading-4 break-words text-fail group-data-inline/cell:line-clamp-none"
          title={error.error}
        >
          {error.error}
        </span>
      ) : output === null || output === undefined ? (
        NONE
      ) : (
        <span className="mono line-clamp-2 text-data leading-4 break-all text-ink-2">
          {typeof output === 'string' ? output : JSON.stringify(output)}
        </span>
      ),
  },
  {
    id: 'tokens',
    label: 'Tokens',
    width: '76px',
    align: 'right',
    cell: ({ input_tokens, output_tokens }) => (
      <span className="mono text-data text-ink-2" title={`${input_tokens} in, ${output_tokens} out`}>
        {(input_tokens + output_tokens).toLocaleString('en')}
      </span>
    ),
  },
  {
    id: 'cost',
    label: 'Cost',
    width: '72px',
    align: 'right',
    cell: ({ cost }) => <span className="mono text-data text-ink-2">{costText(cost)}</span>,
  },
  {
    id: 'took',
    label: 'Took',
    width: '64px',
    align: 'right',
    cell: ({ started_at, ended_at }) => (
      <span className="mono text-data text-ink-2">
        <Took from={started_at} to={ended_at} />
      </span>
    ),
  },
  {
    id: 'chip',
    label: 'Status',
    width: '104px',
    align: 'right',
    cell: (run) => <LightChip of={aiRunLight(run)} />,
  },
]

function Took({ from, to }: { readonly from: string | null; readonly to: string | null }): ReactElement {
  if (from === null) return NONE
  return to === null ? <Elapsed since={from} /> : <>{took(Date.parse(to) - Date.parse(from))}</>
}

const SLIM: readonly Column<AiRun>[] = [STATE, TIME, NAME]

function AgentName({ id }: { readonly id: string }): ReactElement {
  return <>{useAllAgents().data?.find((agent) => agent.id === id)?.name ?? id}</>
}

/** In the currency of the prices of the agent; unknown without prices. */
function costText(cost: number | null): string | ReactElement {
  if (cost === null) return NONE
  return cost.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })
}

/** Runs of agents: each call of the model and of a tool, with tokens and cost. */
export function Screen(): ReactElement {
  const [{ view, agent, trigger, record }, setSearch] = useSearchState<RunsSearch>()
  const agents = useAllAgents().data ?? []
  const triggers = useAllAiTriggers().data ?? []
  const state = STATES.find((one) => one === view)
  const query = { state, agent_id: agent, trigger_id: trigger, record_id: record }
  return (
    <PagedScreen
      title="AI runs"
      one="run"
      listKey={['aiRuns', 'list', query]}
      read={async (client, { limit, cursor, signal }) => {
        const { ai_runs, next_cursor } = await client.aiRuns.search({ ...query, f: [], limit, cursor }, { signal })
        return { rows: ai_runs, next_cursor }
      }}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      filters={
        <>
          {record !== undefined && (
            <FilterMenu label="Record" every="All records" of={[]} at={record} go={(id) => setSearch({ record: id })} />
          )}
          {(triggers.length > 0 || trigger !== undefined) && (
            <FilterMenu
              label="Trigger"
              every="All triggers"
              of={triggers}
              at={trigger}
              go={(id) => setSearch({ trigger: id, sel: undefined })}
            />
          )}
          <FilterMenu
            label="Agent"
            every="All agents"
            of={agents}
            at={agent}
            go={(id) => setSearch({ agent: id, sel: undefined })}
          />
        </>
      }
      isFiltered={[state, agent, trigger, record].some((one) => one !== undefined)}
      call={{ path: 'search/ai-runs', query }}
      never={{
        title: 'No AI runs yet',
        text: (
          <>
            A run starts when an AI trigger matches a record, or when a workflow step runs an agent.{' '}
            <To screen="agents" className="text-accent underline">
              Go to the agents
            </To>
          </>
        ),
      }}
      panel={RunPanel}
    />
  )
}
