import { clsx } from 'clsx'
import { X, ZoomIn } from 'lucide-react'
import { useId, useState, type KeyboardEvent, type PointerEvent, type ReactElement } from 'react'
import { IconButton } from '../ui/button.tsx'
import { clockText, dayText } from '../ui/moments.ts'
import type { Span } from './span.ts'

/** One bar: the count of its time range, how many of them a search found, and the part that is red. */
export type TimeBar = {
  readonly at: number
  readonly all: number
  /** At most `all`. It is a share, so it need not be whole. */
  readonly red: number
  readonly found?: number | undefined
}

type Props = {
  readonly label: string
  readonly bars: readonly TimeBar[]
  readonly bucketMs: number
  readonly height: number
  /** The text of one bar, or of several in a row. */
  readonly textOf: (bars: readonly TimeBar[]) => string
  readonly selected: Span | undefined
  readonly select: (span: Span | undefined) => void
  /** Zooms to the selected time; absent: there is no zoom. */
  readonly zoom?: (() => void) | undefined
  /** The last bar still grows. */
  readonly isLive: boolean
  readonly hasGrid?: boolean
}

type Brushed = { readonly anchor: number; readonly at: number }

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' })
const LONG_MS = 129_600_000
const DAY_MS = 86_400_000
const LABELS = 6

/**
 * Counts over time, in bars, and a brush over them: drag, or press arrows with Shift, to select a time range.
 * It is plain SVG in the colors of the theme (ADR 52).
 */
export function TimeBars(props: Props): ReactElement {
  const { label, bars, bucketMs, textOf, selected, zoom, isLive, hasGrid = false } = props
  const { brushed, at, cursor, clear, handlers } = useBrush(props)
  const id = useId()
  const here = bars[cursor]
  const share =
    brushed === undefined
      ? shareOf(selected, bars, bucketMs)
      : {
          from: Math.min(brushed.anchor, brushed.at) / bars.length,
          to: (Math.max(brushed.anchor, brushed.at) + 1) / bars.length,
        }
  const chart = (
    <div className="relative">
      <div
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-describedby={`${id}-keys`}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, bars.length - 1)}
        aria-valuenow={Math.max(0, cursor)}
        aria-valuetext={here === undefined ? 'nothing' : `${timeText(here.at, bars, bucketMs)}: ${textOf([here])}`}
        {...handlers}
        className="cursor-crosshair touch-pan-y rounded-chip outline-offset-4"
      >
        <Drawing {...props} at={at === undefined ? undefined : cursor} share={share} />
      </div>
      <p id={`${id}-keys`} className="sr-only">
        Use the arrow keys to move. Press Shift with an arrow key to select a time range. Press Enter to select one bar.
        Press Escape to clear.
      </p>
      {brushed !== undefined && share !== undefined ? (
        <Readout at={(share.from + share.to) / 2}>{brushText(brushed, props)}</Readout>
      ) : (
        at !== undefined &&
        here !== undefined && (
          <Readout at={cursor / bars.length}>{`${timeText(here.at, bars, bucketMs)} · ${textOf([here])}`}</Readout>
        )
      )}
      {selected !== undefined && brushed === undefined && (
        <span className="absolute -top-2 right-0 z-1 flex rounded-button border border-line bg-raised">
          {zoom !== undefined && (
            <IconButton label="Zoom to the selected time" className="!size-6" onClick={zoom}>
              <ZoomIn strokeWidth={1.5} />
            </IconButton>
          )}
          <IconButton label="Clear the selected time" className="!size-6" onClick={clear}>
            <X strokeWidth={1.5} />
          </IconButton>
        </span>
      )}
      <Axis bars={bars} bucketMs={bucketMs} isLive={isLive} />
    </div>
  )
  if (!hasGrid) return chart
  return (
    <div className="relative pl-9">
      <Scale bars={bars} height={props.height} />
      {chart}
    </div>
  )
}

/** The time range under the brush, and the sum of its bars. */
function brushText({ anchor, at }: Brushed, { bars, bucketMs, textOf }: Props): string {
  const within = bars.slice(Math.min(anchor, at), Math.max(anchor, at) + 1)
  const [first, last] = [within[0], within.at(-1)]
  if (first === undefined || last === undefined) return ''
  const [from, to] = [first.at, last.at + bucketMs].map((moment) => timeText(moment, bars, bucketMs))
  return `${from} to ${to} · ${textOf(within)}`
}

/** The range under selection, by pointer or by keys. It is selected when the person releases the button or Shift. */
function useBrush({ bars, bucketMs, selected, select }: Props) {
  const [brushed, setBrushed] = useState<Brushed | undefined>()
  const [at, setAt] = useState<number | undefined>()
  const [isDragging, setDragging] = useState(false)
  const last = bars.length - 1
  const cursor = Math.min(at ?? last, last)
  const set = ({ anchor, at: end }: Brushed): void => {
    const [first, final] = [bars[Math.min(anchor, end)], bars[Math.max(anchor, end)]]
    setBrushed(undefined)
    if (first !== undefined && final !== undefined) select({ from: first.at, to: final.at + bucketMs })
  }
  const clear = (): void => {
    setBrushed(undefined)
    if (selected !== undefined) select(undefined)
  }
  const indexAt = (event: PointerEvent): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(last, Math.floor(((event.clientX - box.left) / box.width) * bars.length)))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -last, End: last }[event.key]
    if (step !== undefined) {
      const to = Math.max(0, Math.min(last, cursor + step))
      setAt(to)
      setBrushed(event.shiftKey ? { anchor: brushed?.anchor ?? cursor, at: to } : undefined)
    } else if (event.key === 'Enter' || event.key === ' ') set(brushed ?? { anchor: cursor, at: cursor })
    else if (event.key === 'Escape' && (brushed !== undefined || selected !== undefined)) clear()
    else return
    event.preventDefault()
  }
  const handlers = {
    onKeyDown,
    onKeyUp: (event: KeyboardEvent): void => {
      if (event.key === 'Shift' && brushed !== undefined) set(brushed)
    },
    onBlur: (): void => setAt(undefined),
    onPointerDown: (event: PointerEvent): void => {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      setDragging(true)
      setBrushed({ anchor: indexAt(event), at: indexAt(event) })
    },
    onPointerMove: (event: PointerEvent): void => {
      setAt(indexAt(event))
      if (isDragging && brushed !== undefined) setBrushed({ ...brushed, at: indexAt(event) })
    },
    onPointerUp: (): void => {
      setDragging(false)
      if (brushed !== undefined) set(brushed)
    },
    onPointerCancel: (): void => {
      setDragging(false)
      setBrushed(undefined)
    },
    onPointerLeave: (): void => setAt(undefined),
  }
  return { brushed, at, cursor, clear, handlers }
}

const READOUT_MAX = 92

/** The text of the bar under the pointer or the cursor. */
function Readout({ at, children }: { readonly at: number; readonly children: string }): ReactElement {
  return (
    <span
      aria-hidden
      className="mono pointer-events-none absolute -top-1.5 z-1 rounded-chip border border-line bg-raised px-1.5 text-axis leading-[18px] whitespace-nowrap text-ink-2 shadow-float"
      style={{ left: `${Math.min(READOUT_MAX, at * 100)}%`, transform: at > 0.6 ? 'translateX(-100%)' : undefined }}
    >
      {children}
    </span>
  )
}

type Share = { readonly from: number; readonly to: number }

/** The place of a time range on the bars, 0 to 1; undefined when it is outside of them. */
function shareOf(span: Span | undefined, bars: readonly TimeBar[], bucketMs: number): Share | undefined {
  const begin = bars[0]?.at
  if (span === undefined || begin === undefined) return undefined
  const width = bars.length * bucketMs
  const share = { from: Math.max(0, (span.from - begin) / width), to: Math.min(1, (span.to - begin) / width) }
  return share.to > share.from ? share : undefined
}

const percent = (part: number): string => `${(part * 100).toFixed(3)}%`

function Drawing({
  bars,
  height,
  isLive,
  hasGrid = false,
  at,
  share,
}: Props & { readonly at: number | undefined; readonly share: Share | undefined }): ReactElement {
  const most = topOf(bars)
  const tall = (count: number, least: number): number =>
    count === 0 ? 0 : Math.max(least, (count / most) * (height - 2))
  return (
    <svg width="100%" height={height} aria-hidden className="block">
      {hasGrid &&
        GRID.map((part) => (
          <line
            key={part}
            x1="0"
            x2="100%"
            y1={height - part * (height - 2)}
            y2={height - part * (height - 2)}
            className="stroke-line"
          />
        ))}
      {share !== undefined && (
        <rect
          x={percent(share.from)}
          width={percent(share.to - share.from)}
          y="0"
          height={height}
          className="fill-accent-soft"
        />
      )}
      {share !== undefined &&
        [share.from, share.to].map((edge) => (
          <line key={edge} x1={percent(edge)} x2={percent(edge)} y1="0" y2={height} className="stroke-accent" />
        ))}
      {at !== undefined && (
        <rect
          x={percent(at / bars.length)}
          width={percent(1 / bars.length)}
          y="0"
          height={height}
          className="fill-line opacity-60"
        />
      )}
      {bars.map((bar, index) => {
        const box = { x: percent(index / bars.length), width: percent(0.78 / bars.length), rx: 1.5 }
        const inside =
          share === undefined || ((index + 0.5) / bars.length > share.from && (index + 0.5) / bars.length < share.to)
        const main = index === at || (isLive && index === bars.length - 1) ? 'fill-accent' : 'fill-bar'
        return (
          <g key={bar.at} opacity={inside ? 1 : 0.45}>
            {bar.all === 0 && <rect {...box} y={height - 1.5} height="1.5" className="fill-line" />}
            <rect
              {...box}
              y={height - tall(bar.all, 4)}
              height={tall(bar.all, 4)}
              className={bar.found === undefined ? main : 'fill-line'}
            />
            {bar.found !== undefined && (
              <rect {...box} y={height - tall(bar.found, 4)} height={tall(bar.found, 4)} className={main} />
            )}
            <rect {...box} y={height - tall(bar.red, 3)} height={tall(bar.red, 3)} className="fill-fail" />
          </g>
        )
      })}
      {share !== undefined &&
        [share.from, share.to].map((edge) => (
          <line key={edge} x1={percent(edge)} x2={percent(edge)} y1="0" y2={height} className="stroke-accent" />
        ))}
    </svg>
  )
}

/** The lines across the bars, as parts of the highest value. */
const GRID = [0.5, 1] as const

/** The value at the top of the bars: a round number whose half is whole. */
function topOf(bars: readonly TimeBar[]): number {
  const most = Math.max(4, ...bars.map((bar) => bar.all))
  const power = 10 ** Math.floor(Math.log10(most))
  const top = [1, 2, 4, 6, 8, 10].map((step) => step * power).find((one) => one >= most) ?? most
  return top % 2 === 0 ? top : top * 2
}

/** The values of the lines across the bars. */
function Scale({ bars, height }: Pick<Props, 'bars' | 'height'>): ReactElement {
  const top = topOf(bars)
  return (
    <>
      {GRID.map((part) => (
        <span
          key={part}
          aria-hidden
          className="mono pointer-events-none absolute left-0 w-7 text-right text-axis leading-3 text-ink-3"
          style={{ top: height - part * (height - 2) - 6 }}
        >
          {COMPACT.format(top * part)}
        </span>
      ))}
    </>
  )
}

/** In a narrow chart every other label is left out, so that no two overlap. */
function Axis({ bars, bucketMs, isLive }: Pick<Props, 'bars' | 'bucketMs' | 'isLive'>): ReactElement {
  const isLong = bars.length * bucketMs >= LONG_MS && bucketMs < DAY_MS
  const labels = Array.from({ length: LABELS }, (_none, step) => bars[Math.floor((step * bars.length) / LABELS)])
  return (
    <div aria-hidden className="mono @container relative mt-1.5 h-3.5 text-axis text-ink-3">
      {bars.length >= LABELS &&
        labels.map((bar, step) => (
          <span
            key={step}
            className={clsx(
              'absolute whitespace-nowrap',
              step % 2 === 1 && (isLong ? '@max-[600px]:hidden' : '@max-[280px]:hidden'),
            )}
            style={{ left: `${(Math.floor((step * bars.length) / LABELS) / bars.length) * 100}%` }}
          >
            {bar === undefined ? '' : timeText(bar.at, bars, bucketMs)}
          </span>
        ))}
      {isLive && <span className="absolute right-0 bg-surface pl-1.5 font-strong text-accent">now</span>}
    </div>
  )
}

/** The hour; in long ranges the day, with the hour where bars are shorter than a day. */
function timeText(at: number, bars: readonly TimeBar[], bucketMs: number): string {
  if (bars.length * bucketMs < LONG_MS) return clockText(at)
  return bucketMs >= DAY_MS ? dayText(at) : `${dayText(at)} ${clockText(at)}`
}
