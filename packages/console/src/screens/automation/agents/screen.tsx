import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllAgents, useAllProviders, type AiAgent } from '../../../data/automation-lists.ts'
import { To } from '../../../data/go.tsx'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { RunBars } from '../../../parts/ai-run-bars.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { AgentDetail } from './detail.tsx'

const NAME: Column<AiAgent> = {
  id: 'name',
  label: 'Agent',
  width: 'minmax(140px,1.4fr)',
  plain: true,
  cell: ({ name, instructions }) => <TwoLines top={name} below={instructions} />,
}

const COLUMNS: readonly Column<AiAgent>[] = [
  NAME,
  { id: 'model', label: 'Model', width: 'minmax(120px,1fr)', cell: (agent) => <Model of={agent} /> },
  {
    id: 'tools',
    label: 'Tools',
    width: '72px',
    cell: ({ tools }) => (
      <span className="text-ink-2" title={tools.join(', ')}>
        {tools.length === 0 ? 'none' : tools.length}
      </span>
    ),
  },
  { id: 'runs', label: 'Last 20 runs', width: '122px', cell: ({ id }) => <RunBars of={{ agent_id: id }} /> },
  {
    id: 'tokens',
    label: 'Tokens this month',
    width: 'minmax(120px,170px)',
    align: 'right',
    cell: ({ tokens_this_month, monthly_tokens }) => (
      <span
        className={`mono text-data ${monthly_tokens !== null && tokens_this_month >= monthly_tokens ? 'text-fail' : 'text-ink-2'}`}
      >
        {tokens_this_month.toLocaleString('en')}
        {monthly_tokens !== null && ` of ${monthly_tokens.toLocaleString('en')}`}
      </span>
    ),
  },
]

function Model({ of: { provider_id, model } }: { readonly of: AiAgent }): ReactElement {
  const provider = useAllProviders().data?.find(({ id }) => id === provider_id)
  return (
    <TwoLines
      top={<span className="mono text-data leading-4 font-text">{model ?? provider?.default_model ?? '–'}</span>}
      below={provider?.name ?? provider_id}
    />
  )
}

const isAtCap = ({ monthly_tokens, tokens_this_month }: AiAgent): boolean =>
  monthly_tokens !== null && tokens_this_month >= monthly_tokens

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'tools', label: 'With tools', has: ({ tools }: AiAgent) => tools.length > 0 },
  { id: 'cap', label: 'At their limit', has: isAtCap },
] as const

/** Agents: models with instructions, tools and limits. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Agents"
      one="agent"
      asked={useAllAgents()}
      columns={COLUMNS}
      slim={[NAME]}
      views={VIEWS}
      textOf={({ id, name, instructions, model }) => [id, name, instructions, model ?? ''].join(' ')}
      create={{ label: 'New agent', route: routes.aiAgents.create, dialog: CreateDialog }}
      path="ai-agents"
      detail={AgentDetail}
      never={{
        title: 'No agents yet',
        text: (
          <>
            An agent is a model with instructions, tools and limits. A trigger or a workflow runs the agent on records.{' '}
            <To screen="ai-providers" className="text-accent underline">
              An agent needs a provider
            </To>
            , which can be on your own machine.
          </>
        ),
      }}
    />
  )
}
