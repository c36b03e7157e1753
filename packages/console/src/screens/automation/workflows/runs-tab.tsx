import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { useAsk } from '../../../data/ask.ts'
import { instanceLight } from '../../../parts/automation-lights.ts'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { LightChip } from '../../../ui/glyph.tsx'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'
import { Time, took } from '../../../ui/time.tsx'
import type { WholeWorkflow } from './definition.ts'

const SHOWN = 50
const LIVE_MS = 5_000

/** The newest runs of a workflow. */
export function RunsTab({ workflow: { id, entry_dataset } }: { readonly workflow: WholeWorkflow }): ReactElement {
  const asked = useAsk(
    ['workflowInstances', 'of', id],
    (client, signal) => client.workflowInstances.list({ workflow_id: id, limit: SHOWN }, { signal }),
    { everyMs: LIVE_MS },
  )
  if (asked.data === undefined)
    return asked.error === null ? <Loading rows={5} /> : <Refused error={asked.error} again={asked.refetch} />
  const { instances, next_cursor } = asked.data
  if (instances.length === 0)
    return (
      <Empty title="No runs yet">
        A record in {entry_dataset} starts a run. You can also use Run on a record above.
      </Empty>
    )
  return (
    <>
      <ol aria-label="Runs">
        {instances.map((run) => (
          <li key={run.id} className="border-b border-line/55">
            <To
              screen="workflow-runs"
              search={{ workflow: id, sel: run.id }}
              className="flex min-h-11 flex-wrap items-center gap-x-3 px-5 py-1 outline-offset-[-2px] hover:bg-hover"
            >
              <LightChip of={instanceLight(run)} />
              <Time at={run.created_at} />
              <span className="mono text-data text-ink-3">v{run.version}</span>
              {run.error !== null && (
                <span className="min-w-0 flex-1 basis-48 text-data leading-4 break-words text-fail">
                  {run.error.message}
                </span>
              )}
              {run.ended_at !== null && (
                <span className="mono ml-auto text-meta text-ink-3">
                  {took(Date.parse(run.ended_at) - Date.parse(run.created_at))}
                </span>
              )}
            </To>
          </li>
        ))}
      </ol>
      <div className="flex flex-wrap items-center gap-3 px-5 py-3">
        {next_cursor !== null && <span className="text-ink-3">The newest {SHOWN} are shown.</span>}
        <To
          screen="workflow-runs"
          search={{ workflow: id }}
          className="inline-flex min-h-6 items-center text-accent underline"
        >
          Show in Workflow runs
        </To>
        <CopyAs call={{ path: 'workflow-instances', query: { workflow_id: id } }} className="ml-auto" />
      </div>
    </>
  )
}
