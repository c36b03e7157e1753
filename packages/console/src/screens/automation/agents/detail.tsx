import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useAllAiTriggers, useAllProviders, type AiAgent } from '../../../data/automation-lists.ts'
import { To } from '../../../data/go.tsx'
import { useMay } from '../../../data/place.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { aiRunLight } from '../../../parts/ai-run-bars.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { CopyMeta, Part } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { fieldsOf, SaveForm, useSaveForm } from '../../../parts/save-form.tsx'
import { whenText } from '../../../parts/workflow/step-text.ts'
import { LightChip } from '../../../ui/glyph.tsx'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'
import { agentBodyOf, draftOfAgent } from './draft.ts'
import { LimitFields, TaskFields } from './form.tsx'

const TABS = [
  { id: 'settings', label: 'Settings', of: Settings },
  { id: 'triggers', label: 'Triggers', of: Triggers },
  { id: 'runs', label: 'Runs', of: Runs },
] as const

type TabProps = { readonly agent: AiAgent }

/** One agent: its task and limits, the triggers that start it, and its runs. */
export function AgentDetail({
  row: agent,
  onClose,
}: {
  readonly row: AiAgent
  readonly onClose: () => void
}): ReactElement {
  const may = useMay(routes.aiAgents.update)
  const { of: Tab } = useTab(TABS)
  const provider = useAllProviders().data?.find(({ id }) => id === agent.provider_id)
  const { id, name, model } = agent
  return (
    <ResourceDetail
      label="Agent"
      name={name}
      path={`ai-agents/${id}`}
      chip={<span className="text-data text-ink-3">{model ?? provider?.default_model ?? 'default model'}</span>}
      onClose={onClose}
      meta={
        <>
          <To
            screen="ai-providers"
            search={{ sel: agent.provider_id }}
            className="inline-flex min-h-6 items-center text-accent underline"
          >
            {provider?.name ?? agent.provider_id}
          </To>
          <span>
            {agent.tokens_this_month.toLocaleString('en')}
            {agent.monthly_tokens === null ? '' : ` of ${agent.monthly_tokens.toLocaleString('en')}`} tokens this month
          </span>
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={null}
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'You cannot delete an agent that a trigger uses. Its runs are stored until their retention expires.',
        may,
        rooms: ['aiAgents'],
        run: (client) => client.aiAgents.remove({ id }),
      }}
    >
      <Tab agent={agent} />
    </ResourceDetail>
  )
}

function Settings({ agent }: TabProps): ReactElement {
  const form = useSaveForm({
    held: draftOfAgent(agent),
    read: agentBodyOf,
    route: routes.aiAgents.update,
    rooms: ['aiAgents'],
    send: (client, body) => client.aiAgents.update({ id: agent.id, ...body }),
    countsFrom: 'the next model call. The agent’s tools then act with your permissions',
  })
  const fields = fieldsOf(form)
  return (
    <SaveForm label="Settings" of={form}>
      <Part title="Task">
        <TaskFields {...fields} />
      </Part>
      <Part title="Limits and prices">
        <LimitFields {...fields} />
      </Part>
    </SaveForm>
  )
}

function Triggers({ agent }: TabProps): ReactElement {
  const asked = useAllAiTriggers()
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={4} /> : <Refused error={asked.error} again={asked.refetch} />
  const found = asked.data.filter(({ agent_id }) => agent_id === agent.id)
  const create = (
    <ButtonLink screen="ai-triggers" search={{ new: '1' }}>
      New trigger
    </ButtonLink>
  )
  if (found.length === 0)
    return (
      <Empty title="No triggers" actions={create}>
        A workflow step can still run this agent.
      </Empty>
    )
  return (
    <>
      <ul aria-label="Triggers">
        {found.map(({ id, name, dataset, conditions, active }) => (
          <li key={id} className="border-b border-line/55">
            <To
              screen="ai-triggers"
              search={{ sel: id }}
              className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2 outline-offset-[-2px] hover:bg-hover"
            >
              <b className="font-strong">{name}</b>
              <span className="text-data text-ink-2">
                <span className="mono">{dataset}</span>, {whenText(conditions)}
              </span>
              <span className="ml-auto text-ink-3">{active ? 'on' : 'off'}</span>
            </To>
          </li>
        ))}
      </ul>
      <p className="px-5 py-3">{create}</p>
    </>
  )
}

const SHOWN = 50
const LIVE_MS = 5_000

function Runs({ agent: { id } }: TabProps): ReactElement {
  const asked = useAsk(
    ['aiRuns', 'of', id],
    (client, signal) => client.aiRuns.search({ agent_id: id, limit: SHOWN, f: [] }, { signal }),
    { everyMs: LIVE_MS },
  )
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={5} /> : <Refused error={asked.error} again={asked.refetch} />
  const { ai_runs, next_cursor } = asked.data
  if (ai_runs.length === 0) return <Empty title="No runs yet">A trigger or a workflow starts runs.</Empty>
  return (
    <>
      <ol aria-label="Runs">
        {ai_runs.map((run) => (
          <li key={run.id} className="border-b border-line/55">
            <To
              screen="ai-runs"
              search={{ agent: id, sel: run.id }}
              className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2 outline-offset-[-2px] hover:bg-hover"
            >
              <LightChip of={aiRunLight(run)} />
              <Time at={run.created_at} />
              <span className="mono text-data text-ink-3">{run.dataset}</span>
              {run.error !== null && (
                <span className="min-w-0 flex-1 basis-48 text-data leading-4 break-words text-fail">
                  {run.error.error}
                </span>
              )}
              <span className="mono ml-auto text-meta text-ink-3">
                {(run.input_tokens + run.output_tokens).toLocaleString('en')} tokens
              </span>
            </To>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-3 px-5 py-3">
        {next_cursor !== null && <span className="text-ink-3">The newest {SHOWN} are shown.</span>}
        <To screen="ai-runs" search={{ agent: id }} className="inline-flex min-h-6 items-center text-accent underline">
          Show in AI runs
        </To>
        <CopyAs call={{ path: 'search/ai-runs', query: { agent_id: id } }} className="ml-auto" />
      </div>
    </>
  )
}
