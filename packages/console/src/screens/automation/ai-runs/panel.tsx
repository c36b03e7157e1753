import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { Bot, Wrench } from 'lucide-react'
import type { ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useAllAgents } from '../../../data/automation-lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { aiRunLight } from '../../../parts/ai-run-bars.tsx'
import { useCopyItems } from '../../../parts/copy-as.tsx'
import { Facts } from '../../../parts/detail.tsx'
import { PanelState } from '../../../parts/panel-state.tsx'
import { RunFrame, RunLink } from '../../../parts/run-frame.tsx'
import { StepValue } from '../../../parts/workflow/values.tsx'
import { Button } from '../../../ui/button.tsx'
import { Countdown, Time, took } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Run = RouteAnswer<Routes['aiRuns']['get']>['ai_run']

const LIVE_MS = 3_000

/** One run of an agent: its output, its tokens and cost, and each call of the model and of a tool. */
export function RunPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactElement {
  const asked = useAsk(['aiRuns', 'get', id], (client, signal) => client.aiRuns.get({ id }, { signal }), {
    everyMs: LIVE_MS,
  })
  const run = asked.data?.ai_run
  if (run === undefined) return <PanelState label="Run" asked={asked} onClose={onClose} />
  return <Opened run={run} onClose={onClose} />
}

function Opened({ run, onClose }: { readonly run: Run; readonly onClose: () => void }): ReactElement {
  const { id, agent_id, record_id, dataset, error, output, steps, state } = run
  const agent = useAllAgents().data?.find((one) => one.id === agent_id)
  const calls = useCopyItems({ path: `ai-runs/${id}` })
  const light = aiRunLight(run)
  return (
    <RunFrame
      title={agent?.name ?? agent_id}
      light={light}
      id={id}
      actions={<Actions run={run} />}
      calls={calls}
      onClose={onClose}
      meta={
        <>
          <RunLink screen="events" sel={record_id}>
            Record in {dataset}
          </RunLink>
          <RunLink screen="agents" sel={agent_id}>
            Agent
          </RunLink>
          {run.trigger_id !== null && (
            <RunLink screen="ai-triggers" sel={run.trigger_id}>
              Trigger
            </RunLink>
          )}
          {run.instance_id !== null && (
            <RunLink screen="workflow-runs" sel={run.instance_id}>
              Workflow run
            </RunLink>
          )}
        </>
      }
    >
      {error !== null && state !== 'succeeded' && (
        <p role="alert" className="border-b border-line bg-fail-soft px-5 py-2 break-words text-fail">
          {error.error} <span className="mono text-meta">{error.reason}</span>
        </p>
      )}
      <div className="px-5 py-4">
        <Facts of={factsOf(run)} />
        {output !== null && output !== undefined && (
          <div className="mb-4">
            <StepValue label="Output" value={output} />
          </div>
        )}
        <Steps of={steps} />
      </div>
    </RunFrame>
  )
}

function factsOf(run: Run): Parameters<typeof Facts>[0]['of'] {
  const { attempt, input_tokens, output_tokens, cost, created_at, started_at, ended_at, next_attempt_at } = run
  return [
    ['Queued', <Time key="queued" at={created_at} />],
    ...(started_at === null ? [] : [['Started', <Time key="started" at={started_at} />] as const]),
    ...(started_at === null || ended_at === null
      ? []
      : [['Took', took(Date.parse(ended_at) - Date.parse(started_at))] as const]),
    ['Attempts', attempt.toLocaleString('en')],
    ...(next_attempt_at === null || ended_at !== null
      ? []
      : [['Next attempt', <Countdown key="next" to={next_attempt_at} />] as const]),
    ['Tokens', `${input_tokens.toLocaleString('en')} in, ${output_tokens.toLocaleString('en')} out`],
    [
      'Cost',
      cost === null
        ? 'unknown (the agent has no token prices)'
        : `${cost.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })}, in the currency of its prices`,
    ],
  ]
}

/** Each call of the model and of a tool, in order. */
function Steps({ of }: { readonly of: Run['steps'] }): ReactElement {
  if (of.length === 0) return <p className="text-ink-3">Postroad has not called the model yet.</p>
  return (
    <>
      <h3 className="mb-2 font-title">Steps</h3>
      <ol aria-label="Steps" className="flex flex-col gap-2">
        {of.map((step) => (
          <li key={step.seq} className="min-w-0 rounded-page border border-line-2 px-3 py-2">
            <p className="flex flex-wrap items-center gap-x-2.5">
              {step.kind === 'model' ? (
                <Bot className="size-4 text-flow" strokeWidth={1.5} aria-hidden />
              ) : (
                <Wrench className="size-4 text-flow" strokeWidth={1.5} aria-hidden />
              )}
              <b className="font-strong">{step.kind === 'model' ? 'Model' : 'Tool'}</b>
              {step.tool !== null && <span className="mono text-data text-ink-2">{step.tool}</span>}
              <Time at={step.at} />
              {step.kind === 'model' && (
                <span className="mono ml-auto text-meta text-ink-3">
                  {step.input_tokens.toLocaleString('en')} in, {step.output_tokens.toLocaleString('en')} out
                </span>
              )}
            </p>
            {step.error !== null && <p className="break-words text-fail">{step.error}</p>}
            {step.input !== null && step.input !== undefined && <StepValue label="Arguments" value={step.input} />}
            {step.output !== null && step.output !== undefined && (
              <StepValue label={step.kind === 'model' ? 'Answer' : 'Result'} value={step.output} />
            )}
          </li>
        ))}
      </ol>
    </>
  )
}

function Actions({ run: { id, state } }: { readonly run: Run }): ReactElement | null {
  const refusal = useRefusal(routes.aiRuns.cancel)
  const may = refusal === undefined
  const toast = useToast()
  const cancel = useChange(['aiRuns'], (client) => client.aiRuns.cancel({ id }))
  const retry = useChange(['aiRuns'], (client) => client.aiRuns.retry({ id }))
  const title = refusal
  const failed = (error: Error): void => toast({ text: error.message, kind: 'fail' })
  if (state === 'succeeded') return null
  if (state === 'queued' || state === 'running')
    return (
      <Button
        disabled={!may || cancel.isPending}
        title={title ?? 'Stops the run and discards the response of a call in progress'}
        onClick={() =>
          cancel.mutate(undefined, {
            onSuccess: () => toast({ text: 'The run is canceled. You can retry it.' }),
            onError: failed,
          })
        }
      >
        Cancel run
      </Button>
    )
  return (
    <Button
      kind="primary"
      disabled={!may || retry.isPending}
      title={title}
      onClick={() =>
        retry.mutate(undefined, {
          onSuccess: () => toast({ text: 'The run continues from its last completed step.' }),
          onError: failed,
        })
      }
    >
      Retry
    </Button>
  )
}
