import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { took, useNow } from '../../../ui/time.tsx'
import { ticksOf, timelineOf, type Bar, type Row } from './timeline.ts'

type Instance = RouteAnswer<Routes['workflowInstances']['get']>['instance']

const LOOKS: Readonly<Record<Bar['kind'], string>> = {
  work: 'h-2.5 bg-flow',
  fail: 'h-2.5 bg-fail',
  wait: 'h-1 bg-[repeating-linear-gradient(90deg,var(--retry)_0_3px,transparent_3px_6px)]',
}
const TRACKS = 'grid grid-cols-[128px_minmax(0,1fr)_64px] max-md:grid-cols-[88px_minmax(0,1fr)_52px]'

/** The time of a run: for each step the time in which it worked, and the time in which it waited. */
export function Waterfall({ instance }: { readonly instance: Instance }): ReactElement | null {
  const now = useNow()
  const { totalMs, rows } = timelineOf(instance, now)
  if (rows.length === 0) return null
  const ticks = ticksOf(totalMs)
  return (
    <section aria-label="Timeline" className="border-b border-line px-5 pt-3 pb-3.5">
      <div className="flex flex-wrap items-center gap-x-4 text-meta text-ink-3">
        <h3 className="mr-auto text-data font-strong text-ink">Timeline</h3>
        <Key kind="work">working</Key>
        <Key kind="wait">waiting</Key>
        <Key kind="fail">failed</Key>
      </div>
      <div aria-hidden className={`mono mt-1.5 text-axis text-ink-3 ${TRACKS}`}>
        <span className="relative col-start-2 h-4">
          0
          {ticks.map((ms, index) => (
            <span
              key={ms}
              className={`absolute -translate-x-1/2 whitespace-nowrap ${ticks.length > 2 && index % 2 === 0 ? 'max-md:hidden' : ''}`}
              style={{ left: `${((ms / totalMs) * 100).toFixed(3)}%` }}
            >
              {took(ms)}
            </span>
          ))}
        </span>
      </div>
      <ol>
        {rows.map((row) => (
          <Line key={row.stepId} of={row} ticks={ticks} totalMs={totalMs} />
        ))}
      </ol>
    </section>
  )
}

function Line({
  of,
  ticks,
  totalMs,
}: {
  readonly of: Row
  readonly ticks: readonly number[]
  readonly totalMs: number
}): ReactElement {
  const { stepId, bars, workMs, waitMs, attempts } = of
  const text = [
    `worked ${took(workMs)}`,
    ...(waitMs > 0 ? [`waited ${took(waitMs)}`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
  ].join(', ')
  return (
    <li title={`${stepId}: ${text}`} className={`min-h-6 items-center rounded-chip text-data hover:bg-hover ${TRACKS}`}>
      <span className="mono truncate pr-2">{stepId}</span>
      <span aria-hidden className="relative h-6 border-x border-line">
        {ticks.map((ms) => (
          <i
            key={ms}
            className="absolute inset-y-0 w-px bg-line"
            style={{ left: `${((ms / totalMs) * 100).toFixed(3)}%` }}
          />
        ))}
        {bars.map(({ kind, fromMs, toMs }) => (
          <i
            key={`${kind} ${fromMs}`}
            className={`absolute top-1/2 min-w-[3px] -translate-y-1/2 rounded-[2px] ${LOOKS[kind]}`}
            style={{
              left: `min(${((fromMs / totalMs) * 100).toFixed(3)}%, 100% - 3px)`,
              width: `${(((toMs - fromMs) / totalMs) * 100).toFixed(3)}%`,
            }}
          />
        ))}
      </span>
      <span aria-hidden className="mono text-right text-meta text-ink-3">
        {took(workMs + waitMs)}
      </span>
      <span className="sr-only">{text}</span>
    </li>
  )
}

function Key({ kind, children }: { readonly kind: Bar['kind']; readonly children: string }): ReactElement {
  return (
    <span className="flex items-center gap-1.5">
      <i aria-hidden className={`w-4 rounded-[2px] ${LOOKS[kind]}`} />
      {children}
    </span>
  )
}
