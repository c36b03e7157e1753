import type { RouteAnswer, Routes } from '@postroad/contract'
import { useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { Glyph, type Tone } from '../../../ui/glyph.tsx'
import { clockText, momentText } from '../../../ui/moments.ts'
import { span, took } from '../../../ui/time.tsx'

type Series = RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']
type Point = Series['points'][number]
type Backlog = RouteAnswer<Routes['dashboard']['summary']>['summary']['backlog']

const HEIGHT = 96
const LONG_MS = 129_600_000

/** The time from the acceptance of an event to its delivery: the median, and the time within which 95% arrive. */
export function DeliveryTimes({ series: { points, bucket_seconds } }: { readonly series: Series }): ReactElement {
  const measured = points.filter(({ delivery_ms }) => delivery_ms !== null)
  return (
    <section className="px-[18px] py-5" aria-label="Delivery time">
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1 text-data text-ink-3">
        <h2 className="text-body font-title text-ink">Delivery time</h2>
        <Key color="bg-accent">median</Key>
        <Key color="bg-ink-4">95% within</Key>
      </div>
      {measured.length === 0 ? (
        <p className="text-ink-3">Nothing was delivered.</p>
      ) : (
        <Chart points={points} isLong={points.length * bucket_seconds * 1_000 >= LONG_MS} />
      )}
    </section>
  )
}

function Key({ color, children }: { readonly color: string; readonly children: string }): ReactElement {
  return (
    <span className="flex items-center gap-1.5">
      <i aria-hidden className={`h-0.5 w-3 rounded-full ${color}`} />
      {children}
    </span>
  )
}

type ChartProps = { readonly points: readonly Point[]; readonly isLong: boolean }

/** A slider for screen readers and keys: each step is a bucket. */
function Chart({ points, isLong }: ChartProps): ReactElement {
  const last = points.length - 1
  const [at, setAt] = useState<number | undefined>()
  const cursor = Math.min(at ?? last, last)
  const most = Math.max(1, ...points.map(({ delivery_ms }) => delivery_ms?.p95 ?? 0))
  const text = (point: Point | undefined): string => {
    if (point === undefined) return 'nothing'
    const when = (isLong ? momentText : clockText)(point.at)
    const { delivery_ms: times } = point
    return times === null
      ? `${when} · nothing delivered`
      : `${when} · median ${took(times.p50)}, 95% within ${took(times.p95)}`
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setAt(Math.max(0, Math.min(last, cursor + step)))
  }
  const onPointerMove = (event: PointerEvent): void => {
    const box = event.currentTarget.getBoundingClientRect()
    setAt(Math.max(0, Math.min(last, Math.floor(((event.clientX - box.left) / box.width) * points.length))))
  }
  return (
    <div className="relative pl-12">
      {[1, 0.5].map((part) => (
        <span
          key={part}
          aria-hidden
          className="mono absolute left-0 w-10 text-right text-axis leading-3 text-ink-3"
          style={{ top: HEIGHT * (1 - part) - 5 }}
        >
          {took(most * part)}
        </span>
      ))}
      <div
        role="slider"
        tabIndex={0}
        aria-label="Delivery time"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, last)}
        aria-valuenow={Math.max(0, cursor)}
        aria-valuetext={text(points[cursor])}
        onKeyDown={onKeyDown}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setAt(undefined)}
        onBlur={() => setAt(undefined)}
        className="rounded-chip outline-offset-4"
      >
        <svg
          aria-hidden
          width="100%"
          height={HEIGHT}
          viewBox={`0 0 ${points.length} ${HEIGHT}`}
          preserveAspectRatio="none"
          fill="none"
          className="block overflow-visible"
        >
          {[1, 0.5, 0].map((part) => (
            <path
              key={part}
              d={`M0 ${HEIGHT * (1 - part)}H${points.length}`}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {at !== undefined && <rect x={cursor} width="1" height={HEIGHT} className="fill-line" />}
          <Trace points={points} most={most} of="p95" color="stroke-ink-4" />
          <Trace points={points} most={most} of="p50" color="stroke-accent" />
        </svg>
      </div>
      <p aria-hidden className="mono mt-1.5 h-3.5 truncate text-axis text-ink-3">
        {at === undefined ? `${text(points[0]).split(' · ')[0] ?? ''} – now` : text(points[cursor])}
      </p>
    </div>
  )
}

type TraceProps = {
  readonly points: readonly Point[]
  readonly most: number
  readonly of: 'p50' | 'p95'
  readonly color: string
}

/** A line through the buckets with deliveries. It skips empty ones, and a bucket between empty ones is a dot. */
function Trace({ points, most, of, color }: TraceProps): ReactElement {
  const known = (index: number): boolean => (points[index]?.delivery_ms ?? null) !== null
  const at = ({ delivery_ms }: Point, index: number): string =>
    `${index + 0.5} ${(HEIGHT * (1 - (delivery_ms?.[of] ?? 0) / most)).toFixed(1)}`
  const line = points.map((point, index) => (known(index) ? `${known(index - 1) ? 'L' : 'M'}${at(point, index)}` : ''))
  const dots = points.map((point, index) =>
    known(index) && !known(index - 1) && !known(index + 1) ? `M${at(point, index)}h0` : '',
  )
  const look = { strokeLinecap: 'round', strokeLinejoin: 'round', vectorEffect: 'non-scaling-stroke' } as const
  return (
    <>
      <path d={line.join('')} strokeWidth="2" className={color} {...look} />
      <path d={dots.join('')} strokeWidth="5" className={color} {...look} />
    </>
  )
}

/** The deliveries that wait now, by state, and the age of the oldest. */
export function Waiting({ of: backlog }: { readonly of: Backlog }): ReactElement {
  const { pending, retrying, paused, held, oldest_accepted_at: oldest } = backlog
  const rows: readonly (readonly [label: string, count: number, state: string, tone: Tone])[] = [
    ['Pending', pending, 'pending', 'sending'],
    ['Retrying', retrying, 'retrying', 'retry'],
    ['Paused', paused, 'paused', 'paused'],
    ['Held back (included above)', held, 'held', 'fail'],
  ]
  const waiting = rows.filter(([, count]) => count > 0)
  return (
    <section className="px-[18px] py-5" aria-label="Waiting now">
      <h2 className="mb-2 font-title">Waiting now</h2>
      {oldest !== null && (
        <p className="text-ink-2">
          The oldest event with a pending or retrying delivery arrived {span(Date.now() - Date.parse(oldest))} ago.
        </p>
      )}
      {waiting.length === 0 ? (
        <p className="text-ink-3">No deliveries are waiting.</p>
      ) : (
        <ul>
          {waiting.map(([label, count, state, tone]) => (
            <li key={state}>
              <To
                screen="deliveries"
                search={{ state }}
                className="flex h-9 items-center gap-2.5 border-b border-line/55 hover:bg-hover"
              >
                <Glyph tone={tone} label="" />
                {label}
                <span className="mono ml-auto text-data text-ink-2">{count.toLocaleString('en')}</span>
              </To>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
