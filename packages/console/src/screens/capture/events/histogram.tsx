import type { RouteAnswer, Routes } from '@postroad/contract'
import { useMemo, useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { usePlace } from '../../../data/place.ts'
import { redOf } from '../../../parts/red-share.ts'
import { addressOf, spanIn, type Span } from '../../../parts/span.ts'
import { TimeBars, type TimeBar } from '../../../parts/time-bars.tsx'
import { deliveriesOf, toneOfRow } from './rows.ts'
import { rangeOf, type EventsSearch } from './search.ts'
import type { useEvents } from './use-events.ts'

const HEIGHT = 64
const MINUTE_MS = 60_000
const EVERY_MS = 5_000
/** The possible widths of a range without a start. */
const WIDTHS_MS = [1_800_000, 10_800_000, 86_400_000, 604_800_000, 2_592_000_000] as const

type Events = ReturnType<typeof useEvents>
type Props = {
  readonly events: Events
  readonly search: EventsSearch
  readonly change: (change: Partial<EventsSearch>) => void
}
/** The time that the bars show; without an end it lasts until now. */
type Frame = { readonly width: number; readonly to?: number }

/** The server's counts of the events in the range, and of those that the search found. A drag selects a new range. */
export function Histogram({ events, search, change }: Props): ReactElement {
  const { project } = usePlace()
  const own = spanIn(search)
  const [frame, setFrame] = useFrame(events, search)
  const asked = useAsk(
    ['dashboard', 'bars', frame.width, frame.to],
    (client, signal) => client.dashboard.timeseries({ project_id: project.id, ...boundsOf(frame) }, { signal }),
    { everyMs: EVERY_MS, keep: true },
  )
  const series = asked.data?.timeseries
  const bucketMs = (series?.bucket_seconds ?? 60) * 1_000
  const { rows, tail, isNarrowed, wanted } = events
  const bars = useMemo(
    () => (series === undefined ? [] : barsOf(series, { rows, tail, isNarrowed, wanted })),
    [series, rows, tail, isNarrowed, wanted],
  )
  const canZoom = own !== undefined && own.to - own.from < frame.width && own.to - own.from >= MINUTE_MS * 2
  return (
    <div className="border-b border-line px-[18px] pt-3.5 pb-2" style={{ minHeight: HEIGHT + 43 }}>
      {bars.length > 0 && (
        <TimeBars
          label="Events over time"
          bars={bars}
          bucketMs={bucketMs}
          height={HEIGHT}
          hasGrid
          textOf={textOf}
          selected={own}
          select={(span) => change(addressOf(span))}
          zoom={canZoom ? () => setFrame({ width: own.to - own.from, to: own.to }) : undefined}
          isLive={frame.to === undefined}
        />
      )}
    </div>
  )
}

function boundsOf({ width, to }: Frame): { readonly from: string; readonly to?: string } {
  return {
    from: new Date((to ?? Date.now()) - width).toISOString(),
    ...(to === undefined ? {} : { to: new Date(to).toISOString() }),
  }
}

/** The frame stays while a range inside it is selected, and the results of a filter do not make it shorter. */
function useFrame(
  { rows, isNarrowed }: Pick<Events, 'rows' | 'isNarrowed'>,
  search: EventsSearch,
): readonly [Frame, (frame: Frame) => void] {
  const own = spanIn(search)
  const { ms } = rangeOf(search)
  const [frame, setFrame] = useState<Frame>(() =>
    own === undefined ? { width: ms ?? WIDTHS_MS[isNarrowed ? 2 : 0] } : around(own),
  )
  const oldest = rows.at(-1)?.at
  const reached = widthFor(oldest === undefined ? 0 : Date.now() - Date.parse(oldest))
  const wanted =
    own === undefined
      ? { width: ms ?? Math.max(reached, isNarrowed ? frame.width : 0) }
      : holds(frame, own)
        ? frame
        : around(own)
  if (wanted.width !== frame.width || wanted.to !== frame.to) setFrame(wanted)
  return [wanted, setFrame]
}

function widthFor(ms: number): number {
  return WIDTHS_MS.find((width) => width >= ms) ?? WIDTHS_MS[WIDTHS_MS.length - 1] ?? ms
}

function holds({ width, to = Date.now() + MINUTE_MS }: Frame, { from, to: until }: Span): boolean {
  return from >= to - width - MINUTE_MS * 2 && until <= to + width
}

/** A range from an address, with the same time before and after it. */
function around({ from, to }: Span): Frame {
  const width = widthFor((to - from) * 3)
  const end = to + (width - (to - from)) / 2
  return end >= Date.now() ? { width: Math.max(width, Date.now() - from) } : { width, to: end }
}

function textOf(bars: readonly TimeBar[]): string {
  const sum = (count: (bar: TimeBar) => number): string =>
    Math.ceil(bars.reduce((total, bar) => total + count(bar), 0)).toLocaleString('en')
  const isSearched = bars.some(({ found }) => found !== undefined)
  return `${isSearched ? `${sum(({ found = 0 }) => found)} found of ` : ''}${sum(({ all }) => all)} in, ${sum(({ red }) => red)} failed or rejected`
}

type Series = RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']

/** The counts are some seconds behind, so the loaded events complete the buckets that are still open. */
function barsOf(
  { points, bucket_seconds, closed_until }: Series,
  { rows, tail, isNarrowed, wanted }: Pick<Events, 'rows' | 'tail' | 'isNarrowed' | 'wanted'>,
): readonly TimeBar[] {
  const bucketMs = bucket_seconds * 1_000
  const closedUntil = closed_until === null ? 0 : Date.parse(closed_until)
  const begin = Date.parse(points[0]?.at ?? '')
  const seen = points.map(() => ({ all: 0, bad: 0 }))
  for (const row of rows) {
    const bar = seen[Math.floor((Date.parse(row.at) - begin) / bucketMs)]
    if (bar === undefined || row.kind === 'gap') continue
    const count = row.kind === 'rejection' ? row.rejection.count : 1
    bar.all += count
    if (['fail', 'retry', 'rejected'].includes(toneOfRow(row, deliveriesOf(tail, row)))) bar.bad += count
  }
  return points.map((point, index) => {
    const { submissions, rejected } = point
    const { all: found, bad: wrong } = seen[index] ?? { all: 0, bad: 0 }
    const at = begin + index * bucketMs
    const all = submissions + rejected
    // A search of events passes over the rejected requests, and the list of rejected requests over the events.
    const searched = wanted.view === 'rejected' ? rejected : submissions
    if (isNarrowed) return { at, all: Math.max(searched, found), red: wrong, found }
    const red = redOf(point)
    return at + bucketMs > closedUntil ? { at, all: Math.max(all, found), red: Math.max(red, wrong) } : { at, all, red }
  })
}
