import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { addressOf, type Span } from '../../../parts/span.ts'
import { TimeBars, type TimeBar } from '../../../parts/time-bars.tsx'

type Series = RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']
type Point = Series['points'][number]

const HEIGHT = 140

type Props = {
  readonly series: Series
  readonly selected: Span | undefined
  readonly select: (span: Span | undefined) => void
}

/** Events over time, on top of the failed attempts and the rejected requests. A selected range leads to its events and its deliveries. */
export function Bars({ series: { points, bucket_seconds }, selected, select }: Props): ReactElement {
  const bars = points.map(barOf)
  const byBar = new Map<TimeBar, Point | undefined>(bars.map((bar, index) => [bar, points[index]]))
  const within =
    selected === undefined
      ? []
      : points.filter(({ at }) => Date.parse(at) >= selected.from && Date.parse(at) < selected.to)
  return (
    <section aria-label="Over time" className="border-b border-line px-[18px] py-5">
      <div className="mb-4 flex min-h-7 flex-wrap items-center gap-4 text-data text-ink-3">
        <Legend color="bg-bar">events in</Legend>
        <Legend color="bg-fail">failed and rejected</Legend>
        {selected === undefined ? (
          <span className="ml-auto max-md:hidden">
            Drag over the bars, or use the arrow keys, to select a time range
          </span>
        ) : (
          <Selected points={within} span={selected} />
        )}
      </div>
      <TimeBars
        label="Events over time"
        bars={bars}
        bucketMs={bucket_seconds * 1_000}
        height={HEIGHT}
        hasGrid
        textOf={(bar) => textOf(bar, byBar.get(bar))}
        selected={selected}
        select={select}
        isLive
      />
    </section>
  )
}

function Selected({ points, span }: { readonly points: readonly Point[]; readonly span: Span }): ReactElement {
  const sum = (count: (point: Point) => number): string =>
    points.reduce((total, point) => total + count(point), 0).toLocaleString('en')
  return (
    <span role="status" className="ml-auto flex flex-wrap items-center gap-x-4 gap-y-1">
      <span>
        {sum(({ submissions }) => submissions)} in, {sum(({ delivered }) => delivered)} delivered,{' '}
        {sum(({ failed }) => failed)} failed, {sum(({ rejected }) => rejected)} rejected
      </span>
      {(['events', 'deliveries'] as const).map((screen) => (
        <ButtonLink key={screen} screen={screen} search={addressOf(span)} hasArrow>
          {`Show these ${screen}`}
        </ButtonLink>
      ))}
    </span>
  )
}

/** The bar of a point: neither failed attempts nor rejected requests are among the events that came in. */
function barOf(point: Point): TimeBar {
  return { at: Date.parse(point.at), all: point.submissions + bad(point), bad: bad(point) }
}

/** A range of bars has no point, only its sums. */
function textOf(bar: TimeBar, point: Point | undefined): string {
  return point === undefined
    ? `${bar.all - bar.bad} in, ${bar.bad} failed or rejected`
    : `${point.submissions} in, ${point.delivered} delivered, ${point.failed} failed, ${point.rejected} rejected`
}

function bad({ failed, rejected }: Point): number {
  return failed + rejected
}

function Legend({ color, children }: { readonly color: string; readonly children: string }): ReactElement {
  return (
    <span className="flex items-center gap-1.5">
      <i aria-hidden className={`size-2 rounded-[2px] ${color}`} />
      {children}
    </span>
  )
}
