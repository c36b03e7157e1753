import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { StepValue } from '../../../parts/workflow/values.tsx'
import { Glyph, type Tone } from '../../../ui/glyph.tsx'
import { Time, took } from '../../../ui/time.tsx'

type StepRun = RouteAnswer<Routes['workflowInstances']['get']>['instance']['steps'][number]

const TONES: Readonly<Record<StepRun['state'], Tone>> = {
  waiting: 'sending',
  succeeded: 'ok',
  failed: 'fail',
  skipped: 'rejected',
}

/** The attempts of one step, the newest last: state, time, input, output and error. Shows `never` if there are none. */
export function StepRuns({ of, never }: { readonly of: readonly StepRun[]; readonly never?: string }): ReactElement {
  if (of.length === 0) return <p className="text-data text-ink-3">{never}</p>
  return (
    <ol>
      {of.map((run, index) => (
        <li key={run.seq} className={index === 0 ? '' : 'mt-2 border-t border-line/55 pt-2'}>
          <Try run={run} isOnly={of.length === 1} isLast={index === of.length - 1} />
        </li>
      ))}
    </ol>
  )
}

function Try({
  run: { state, attempt, started_at, ended_at, input, output, error, type },
  isOnly,
  isLast,
}: {
  readonly run: StepRun
  readonly isOnly: boolean
  readonly isLast: boolean
}): ReactElement {
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2.5 text-data">
        <Glyph tone={TONES[state]} label="" />
        <b className={`font-control ${state === 'failed' ? 'text-fail' : 'text-ink'}`}>{state}</b>
        {(!isOnly || attempt > 1) && <span className="text-ink-3">attempt {attempt}</span>}
        <Time at={started_at} />
        <span className="mono ml-auto text-meta text-ink-3">
          {ended_at === null ? 'in progress' : took(Date.parse(ended_at) - Date.parse(started_at))}
        </span>
      </p>
      {error !== null && (
        <p className="text-data break-words text-fail">
          {error.message} <span className="mono text-meta">{error.reason}</span>
        </p>
      )}
      {isLast && type !== 'branch' && (
        <>
          {input !== null && <StepValue label="Input" value={input} />}
          {output !== null && <StepValue label="Output" value={output} />}
        </>
      )}
      <Made output={output} />
    </>
  )
}

/** Links to the things that a step made: a delivery, a record or an AI run. */
function Made({ output }: { readonly output: unknown }): ReactElement | null {
  if (typeof output !== 'object' || output === null) return null
  const links = [
    { member: 'delivery_id', screen: 'deliveries', label: 'Open the delivery' },
    { member: 'record_id', screen: 'events', label: 'Open the event' },
    { member: 'run_id', screen: 'ai-runs', label: 'Open the AI run' },
  ].flatMap(({ member, ...link }) => {
    const id: unknown = Object.entries(output).find(([name]) => name === member)?.[1]
    return typeof id === 'string' ? [{ ...link, id }] : []
  })
  if (links.length === 0) return null
  return (
    <p className="mt-1 flex gap-3">
      {links.map(({ screen, label, id }) => (
        <To
          key={label}
          screen={screen}
          search={{ sel: id }}
          className="inline-flex min-h-6 items-center text-accent underline"
        >
          {label}
        </To>
      ))}
    </p>
  )
}
