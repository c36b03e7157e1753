import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { redOf } from '../../../parts/red-share.ts'
import { addressOf, type Span } from '../../../parts/span.ts'
import { TimeBars, type TimeBar } from '../../../parts/time-bars.tsx'

type Series = RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']
type Point = Series['points'][number]

const HEIGHT = 88

type Props = {
  readonly series: Series
  readonly selected: Span | undefined
  readonly select: (span: Span | undefined) => void
}

/** Requests over time; red is the share that was rejected or whose deliveries failed. A selected range leads to its events and its deliveries. */
export function Bars({ series: { points, bucket_seconds }, selected, select }: Props): ReactElement {
  const bars = points.map(barOf)
  const pointAt = new Map(points.map((point) => [Date.parse(point.at), point]))
  const within =
    selected === undefined
      ? []
      : points.filter(({ at }) => Date.parse(at) >= selected.from && Date.parse(at) < selected.to)
  return (
    <section aria-label="Over time" className="border-b border-line px-[18px] py-5">
      <div className="mb-4 flex min-h-7 flex-wrap items-center gap-4 text-data text-ink-3">
        <Legend color="bg-bar">requests</Legend>
        <Legend color="bg-fail">share that failed or was rejected</Legend>
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
        textOf={(some) => textOf(some.flatMap(({ at }) => pointAt.get(at) ?? []))}
        selected={selected}
        select={select}
        isLive
      />
    </section>
  )
}

function Selected({ points, span }: { readonly points: readonly Point[]; readonly span: Span }): ReactElement {
  return (
    <span role="status" className="ml-auto flex flex-wrap items-center gap-x-4 gap-y-1">
      <span>{textOf(points)}</span>
      {(['events', 'deliveries'] as const).map((screen) => (
        <ButtonLink key={screen} screen={screen} search={addressOf(span)} hasArrow>
          {`Show these ${screen}`}
        </ButtonLink>
      ))}
    </span>
  )
}

function barOf(point: Point): TimeBar {
  return { at: Date.parse(point.at), all: point.submissions + point.rejected, red: redOf(point) }
}

function textOf(points: readonly Point[]): string {
  const sum = (count: (point: Point) => number): string =>
    points.reduce((total, point) => total + count(point), 0).toLocaleString('en')
  return `${sum(({ submissions }) => submissions)} in, ${sum(({ delivered }) => delivered)} delivered, ${sum(({ failed }) => failed)} failed, ${sum(({ rejected }) => rejected)} rejected`
}

function Legend({ color, children }: { readonly color: string; readonly children: string }): ReactElement {
  return (
    <span className="flex items-center gap-1.5">
      <i aria-hidden className={`size-2 rounded-[2px] ${color}`} />
      {children}
    </span>
  )
}
