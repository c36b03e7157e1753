import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { Play } from 'lucide-react'
import { useMemo, useState, type ReactElement } from 'react'
import { useAllAgents } from '../../../data/automation-lists.ts'
import { useAsk, useChange } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { useDestinations } from '../../../data/names.ts'
import { useRefusal } from '../../../data/place.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { instanceLight, isOngoing } from '../../../parts/automation-lights.ts'
import { useCopyItems } from '../../../parts/copy-as.tsx'
import { PanelState } from '../../../parts/panel-state.tsx'
import { RunFrame, RunLink } from '../../../parts/run-frame.tsx'
import { Canvas, Head } from '../../../parts/workflow/canvas.tsx'
import { nodesOf, untakenIn, type Arm, type StepNode } from '../../../parts/workflow/tree.ts'
import { Button } from '../../../ui/button.tsx'
import { Loading, RefusedLine } from '../../../ui/states.tsx'
import { Countdown, Time, took } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { StepRuns } from './step-runs.tsx'
import { Waterfall } from './waterfall.tsx'

type Instance = RouteAnswer<Routes['workflowInstances']['get']>['instance']

const LIVE_MS = 3_000

/** One run: the canvas of its version, with the state, the values and the time under each step. */
export function RunPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }): ReactElement {
  const asked = useAsk(
    ['workflowInstances', 'get', id],
    (client, signal) => client.workflowInstances.get({ id }, { signal }),
    { everyMs: LIVE_MS },
  )
  const instance = asked.data?.instance
  if (instance === undefined) return <PanelState label="Run" asked={asked} onClose={onClose} />
  return <Opened instance={instance} onClose={onClose} />
}

function Opened({ instance, onClose }: { readonly instance: Instance; readonly onClose: () => void }): ReactElement {
  const { id, workflow, workflow_id, version, record_id, dataset, created_at, ended_at, started_by } = instance
  const calls = useCopyItems({ path: `workflow-instances/${id}` })
  return (
    <RunFrame
      title={workflow ?? workflow_id}
      light={instanceLight(instance)}
      id={id}
      actions={<Actions instance={instance} />}
      calls={calls}
      onClose={onClose}
      meta={
        <>
          <span>version {version}</span>
          <span>
            started <Time at={created_at} />
          </span>
          {ended_at !== null && <span>took {took(Date.parse(ended_at) - Date.parse(created_at))}</span>}
          <RunLink screen="events" sel={record_id}>
            {started_by === 'hand' ? 'Record' : 'Started by a record'} in {dataset}
          </RunLink>
          {workflow !== null && (
            <RunLink screen="workflows" sel={workflow_id}>
              Workflow
            </RunLink>
          )}
        </>
      }
    >
      <Waiting instance={instance} />
      <Waterfall instance={instance} />
      <RunCanvas instance={instance} />
    </RunFrame>
  )
}

/** The reason why the run waits or has stopped. */
function Waiting({
  instance: { waits_for, error, state, ended_at, resumes_as },
}: {
  readonly instance: Instance
}): ReactElement | null {
  const line = 'border-b border-line px-5 py-2'
  if (error !== null && ended_at !== null)
    return (
      <p role="alert" className={`${line} bg-fail-soft text-fail`}>
        {error.step_id !== undefined && <b className="mono font-control">{error.step_id}: </b>}
        {error.message} <span className="mono text-meta">{error.reason}</span>
      </p>
    )
  if (state === 'paused')
    return (
      <p role="status" className={`${line} bg-retry-soft text-retry-text`}>
        The workspace is suspended or closed. When it is active again, the run continues
        {resumes_as === null ? '' : ` as ${resumes_as}`}.
      </p>
    )
  if (waits_for === null) return null
  const until = 'until' in waits_for && waits_for.until !== null ? <Countdown to={waits_for.until} /> : null
  return (
    <p role="status" className={`${line} bg-sunken text-ink-2`}>
      {waits_for.kind === 'time' && <>Continues {until}.</>}{' '}
      {waits_for.kind === 'retry' && <>Retries the step {until}.</>}
      {waits_for.kind === 'event' && (
        <>
          Waiting for a record in <span className="mono">{waits_for.dataset}</span> where{' '}
          <span className="mono">{waits_for.conditions.map(conditionLine).join(' and ')}</span>. The wait times out{' '}
          {until}.
        </>
      )}
      {waits_for.kind === 'delivery' && (
        <>
          Waiting for a{' '}
          <To screen="deliveries" search={{ sel: waits_for.id }} className="text-accent underline">
            delivery
          </To>
          .
        </>
      )}
      {waits_for.kind === 'ai_run' && (
        <>
          Waiting for an{' '}
          <To screen="ai-runs" search={{ sel: waits_for.id }} className="text-accent underline">
            AI run
          </To>
          .
        </>
      )}
    </p>
  )
}

function conditionLine(condition: Readonly<Record<string, unknown>>): string {
  const { path, op = 'equals', value, equals } = condition
  return `${String(path)} ${op === 'equals' ? '=' : String(op)} ${JSON.stringify(value ?? equals ?? null)}`
}

function RunCanvas({ instance }: { readonly instance: Instance }): ReactElement {
  const { workflow, workflow_id, version, steps, dataset, started_by, ended_at } = instance
  const destinations = useDestinations()
  const agents = useAllAgents().data
  const asked = useAsk(
    ['workflows', 'version', workflow_id, version],
    (client, signal) => client.workflows.getVersion({ id: workflow_id, version: String(version) }, { signal }),
    { enabled: workflow !== null },
  )
  const definition = asked.data?.version
  const nodes = useMemo(() => (definition === undefined ? undefined : nodesOf(definition.steps)), [definition])
  const byStep = useMemo(() => Map.groupBy(steps, ({ step_id }) => step_id), [steps])
  const runsOf = (node: StepNode): Instance['steps'] => byStep.get(node.step.id) ?? []
  // The definition is deleted with its workflow. The attempts of its steps remain.
  if (nodes === undefined)
    return asked.error === null && workflow !== null ? (
      <Loading rows={4} />
    ) : (
      <ol aria-label="Steps" className="flex flex-col gap-2 px-5 py-4">
        {asked.error !== null && <RefusedLine error={asked.error} />}
        {steps.map((step) => (
          <li key={step.seq} className="rounded-page border border-line-2 px-3 py-2">
            <b className="mono font-control">{step.step_id}</b> <span className="text-ink-3">{step.type}</span>
            <StepRuns of={[step]} />
          </li>
        ))}
      </ol>
    )
  const takes = (node: StepNode, arm: Arm): boolean | undefined => {
    const output = runsOf(node).findLast(({ state: of }) => of === 'succeeded')?.output
    if (typeof output !== 'object' || output === null || !('taken' in output)) return undefined
    return (output.taken === null ? 'else' : output.taken) === (arm.name ?? 'else')
  }
  const untaken = untakenIn(nodes, takes)
  const under = (node: StepNode): ReactElement => (
    <div className="border-t border-line/55 px-3 pt-1.5 pb-2.5">
      <StepRuns
        of={runsOf(node)}
        never={
          untaken.includes(node.key)
            ? 'Skipped, because the run took another branch.'
            : ended_at === null
              ? 'Not run yet.'
              : 'Not run.'
        }
      />
    </div>
  )
  return (
    <Canvas
      label="Steps"
      nodes={nodes}
      nameOf={(id) => agents?.find((agent) => agent.id === id)?.name ?? destinations.nameOf(id)}
      start={
        <section aria-label="Start" className="rounded-page border border-line-2 bg-surface">
          <div className="flex min-h-12 items-center gap-2 px-3 py-1.5">
            <Play className="size-4 flex-none text-flow" strokeWidth={1.5} aria-hidden />
            <Head
              isAt={false}
              go={undefined}
              title="Start"
              text={started_by === 'hand' ? `Run on a record in ${dataset}` : `A record in ${dataset}`}
            />
          </div>
        </section>
      }
      isDim={(node) => runsOf(node).length === 0}
      under={under}
      takes={takes}
    />
  )
}

/** The buttons: cancel a run that has not ended, and retry a failed run from the failed step. */
function Actions({ instance }: { readonly instance: Instance }): ReactElement | null {
  const { id, state } = instance
  const [isAsking, setAsking] = useState(false)
  const toast = useToast()
  const refusal = useRefusal(routes.workflowInstances.cancel)
  const may = refusal === undefined
  const cancel = useChange(['workflowInstances'], (client) => client.workflowInstances.cancel({ id }))
  const retry = useChange(['workflowInstances'], (client) => client.workflowInstances.retry({ id }))
  const title = refusal
  if (state === 'failed')
    return (
      <Button
        kind="primary"
        disabled={!may || retry.isPending}
        title={title}
        onClick={() =>
          retry.mutate(undefined, {
            onSuccess: () => toast({ text: 'The run continues at the failed step. Earlier steps do not run again.' }),
            onError: (error) => toast({ text: error.message, kind: 'fail' }),
          })
        }
      >
        Retry from the failed step
      </Button>
    )
  if (!isOngoing(instance)) return null
  return (
    <>
      <Button disabled={!may} title={title} onClick={() => setAsking(true)}>
        Cancel run
      </Button>
      {isAsking && (
        <AskDialog
          title="Cancel this run?"
          verb="Cancel run"
          disabled={cancel.isPending}
          error={cancel.error}
          onClose={() => setAsking(false)}
          onYes={() =>
            cancel.mutate(undefined, {
              onSuccess: () => {
                setAsking(false)
                toast({ text: 'The run is canceled.' })
              },
            })
          }
        >
          <p className="mb-3 text-ink-2">
            The run stops now and cannot continue. Records and deliveries that its steps created are not deleted.
          </p>
        </AskDialog>
      )}
    </>
  )
}
