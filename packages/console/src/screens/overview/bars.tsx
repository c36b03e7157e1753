import type { RouteAnswer, Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'

type Series = RouteAnswer<Routes['dashboard']['timeseries']>['timeseries']
type Point = Series['points'][number]

const HEIGHT = 140
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
const DAY_SECONDS = 86_400

/** Events over time; failed attempts and refused requests stand on the base line. The bar under the pointer is read out. */
export function Bars({ series: { points, bucket_seconds } }: { readonly series: Series }): ReactElement {
  const [at, setAt] = useState<number | undefined>()
  const most = Math.max(4, ...points.map((point) => Math.max(point.submissions, bad(point))))
  const long = bucket_seconds * points.length > DAY_SECONDS * 1.5
  const label = (point: Point | undefined): string => (point === undefined ? '' : (long ? DAY : CLOCK).format(Date.parse(point.at)))
  const here = at === undefined ? undefined : points[at]
  return (
    <section aria-label="Over time" className="border-b border-line px-[18px] py-5">
      <div className="mb-3 flex h-6 items-center gap-4 text-data text-ink-3">
        <Legend colour="bg-bar">events in</Legend>
        <Legend colour="bg-fail">failed and rejected</Legend>
        <span className="ml-auto" aria-hidden>{here === undefined ? '' : `${label(here)}: ${here.submissions} in, ${here.delivered} delivered, ${here.failed} failed, ${here.rejected} rejected`}</span>
      </div>
      <svg width="100%" height={HEIGHT} role="img" aria-label={`${points.length} bars; at most ${most} in one`} onPointerLeave={() => setAt(undefined)}>
        {[0.25, 0.5, 0.75].map((part) => <line key={part} x1="0" x2="100%" y1={HEIGHT * part} y2={HEIGHT * part} className="stroke-line" />)}
        {points.map((point, index) => {
          const x = `${(index * 100) / points.length}%`
          const width = `${(72 / points.length).toFixed(3)}%`
          const high = point.submissions === 0 ? 1 : Math.max(3, (point.submissions / most) * HEIGHT)
          const low = bad(point) === 0 ? 0 : Math.max(3, (bad(point) / most) * HEIGHT)
          return (
            <g key={point.at} onPointerEnter={() => setAt(index)}>
              <rect x={x} y="0" width={`${100 / points.length}%`} height={HEIGHT} fill="transparent" />
              <rect x={x} y={HEIGHT - high} width={width} height={high} rx="1.5" className={point.submissions === 0 ? 'fill-line' : index === at ? 'fill-accent' : 'fill-bar'} />
              {low > 0 && <rect x={x} y={HEIGHT - low} width={width} height={low} rx="1.5" className="fill-fail" />}
            </g>
          )
        })}
      </svg>
      <div className="mono mt-2 flex justify-between text-axis text-ink-3">
        {[0, 0.25, 0.5, 0.75].map((part) => <span key={part}>{label(points[Math.floor(part * points.length)])}</span>)}
        <span className="font-strong text-accent">now</span>
      </div>
    </section>
  )
}

function bad({ failed, rejected }: Point): number {
  return failed + rejected
}

function Legend({ colour, children }: { readonly colour: string; readonly children: string }): ReactElement {
  return <span className="flex items-center gap-1.5"><i aria-hidden className={`size-2 rounded-[2px] ${colour}`} />{children}</span>
}
