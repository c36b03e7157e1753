import { useState, type ReactElement } from 'react'
import { clockText, momentText } from '../../../ui/moments.ts'
import type { Health } from './health.ts'

type Point = Health['points'][number]

const HEIGHT = 56
const DAY_SECONDS = 86_400

/** Attempts over time; failed ones are on the base line. Screen readers get the bar under the pointer. */
export function HealthBars({
  points,
  seconds,
}: {
  readonly points: readonly Point[]
  readonly seconds: number
}): ReactElement {
  const [at, setAt] = useState<number | undefined>()
  const most = Math.max(4, ...points.map(countOf))
  const long = seconds * points.length >= DAY_SECONDS
  const label = (point: Point | undefined): string =>
    point === undefined ? '' : (long ? momentText : clockText)(point.at)
  const here = at === undefined ? undefined : points[at]
  const failed = points.reduce((sum, point) => sum + point.failed, 0)
  const all = points.reduce((sum, point) => sum + countOf(point), 0)
  const high = (count: number): number => (count === 0 ? 0 : Math.max(3, (count / most) * HEIGHT))
  return (
    <figure className="px-5 pt-3 pb-2.5">
      <svg
        width="100%"
        height={HEIGHT}
        role="img"
        aria-label={`${all} attempts, ${failed} failed`}
        onPointerLeave={() => setAt(undefined)}
      >
        {points.map((point, index) => {
          const x = `${(index * 100) / points.length}%`
          const width = `${(72 / points.length).toFixed(3)}%`
          return (
            <g key={point.at} onPointerEnter={() => setAt(index)}>
              <rect x={x} y="0" width={`${100 / points.length}%`} height={HEIGHT} fill="transparent" />
              <rect
                x={x}
                y={HEIGHT - Math.max(1, high(countOf(point)))}
                width={width}
                height={Math.max(1, high(countOf(point)))}
                rx="1"
                className={countOf(point) === 0 ? 'fill-line' : index === at ? 'fill-accent' : 'fill-bar'}
              />
              {point.failed > 0 && (
                <rect
                  x={x}
                  y={HEIGHT - high(point.failed)}
                  width={width}
                  height={high(point.failed)}
                  rx="1"
                  className="fill-fail"
                />
              )}
            </g>
          )
        })}
      </svg>
      <figcaption className="mono mt-1.5 flex h-4 justify-between text-axis text-ink-3">
        <span>{label(points[0])}</span>
        <span aria-hidden>
          {here === undefined ? '' : `${label(here)}: ${here.succeeded} succeeded, ${here.failed} failed`}
        </span>
        <span className="font-strong text-accent">now</span>
      </figcaption>
    </figure>
  )
}

function countOf({ succeeded, failed, interrupted }: Point): number {
  return succeeded + failed + interrupted
}
