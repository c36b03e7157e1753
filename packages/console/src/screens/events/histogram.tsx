import { useMemo, type ReactElement } from 'react'
import type { Tail } from '../../data/tail.ts'
import { useNow } from '../../ui/time.tsx'
import { deliveriesOf, standingOfRow, type EventRow } from './rows.ts'

const BARS = 60
const HEIGHT = 46
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const DEFAULT_MS = 1_800_000
const DAY_MS = 86_400_000

type Bar = { all: number; failing: number }
type Props = { readonly rows: readonly EventRow[]; readonly tail: Tail; readonly ms: number | undefined }

/** What came in the range, in sixty bars; failures stand on the base line, and the bar that is still growing has the accent. */
export function Histogram({ rows, tail, ms }: Props): ReactElement {
  const width = useSpan(rows, ms)
  const now = useNow(2_000)
  const bars = barsOf(rows, { tail, from: now - width, width })
  const most = Math.max(4, ...bars.map(({ all }) => all))
  const total = bars.reduce((sum, { all }) => sum + all, 0)
  const failing = bars.reduce((sum, bar) => sum + bar.failing, 0)
  return (
    <div className="border-b border-line px-[18px] pt-3.5 pb-2">
      <svg width="100%" height={HEIGHT + 2} role="img" aria-label={`${total} events in the bars below the filter, ${failing} of them failing or refused`}>
        {bars.map(({ all, failing: bad }, index) => {
          const x = `${(index * 100) / BARS}%`
          const barWidth = `${(68 / BARS).toFixed(3)}%`
          const high = all === 0 ? 1.5 : Math.max(4, (all / most) * HEIGHT)
          const low = bad === 0 ? 0 : Math.max(3, (bad / most) * HEIGHT)
          return (
            <g key={index}>
              <rect x={x} y={HEIGHT + 2 - high} width={barWidth} height={high} rx="1.5" className={all === 0 ? 'fill-line' : index === BARS - 1 ? 'fill-accent' : 'fill-bar'} />
              {low > 0 && <rect x={x} y={HEIGHT + 2 - low} width={barWidth} height={low} rx="1.5" className="fill-fail" />}
            </g>
          )
        })}
      </svg>
      <div className="mono mt-1.5 flex justify-between text-axis text-ink-3">
        {[0, 1, 2, 3, 4, 5].map((step) => <span key={step}>{label(now - width + (step * width) / 6, width)}</span>)}
        <span className="font-strong text-accent">now</span>
      </div>
    </div>
  )
}

function label(at: number, width: number): string {
  return width > DAY_MS * 1.5 ? DAY.format(at) : CLOCK.format(at)
}

/** Without a range: as far back as the oldest row that is loaded, at least half an hour. */
function useSpan(rows: readonly EventRow[], ms: number | undefined): number {
  const oldest = rows.at(-1)?.at
  return useMemo(() => ms ?? (oldest === undefined ? DEFAULT_MS : Math.max(DEFAULT_MS, Date.now() - Date.parse(oldest))), [ms, oldest])
}

function barsOf(rows: readonly EventRow[], { tail, from, width }: { readonly tail: Tail; readonly from: number; readonly width: number }): readonly Bar[] {
  const bars: Bar[] = Array.from({ length: BARS }, () => ({ all: 0, failing: 0 }))
  for (const row of rows) {
    const bar = bars[Math.min(BARS - 1, Math.floor(((Date.parse(row.at) - from) / width) * BARS))]
    if (bar === undefined || row.kind === 'gap') continue
    bar.all += 1
    if (['fail', 'retry', 'rejected'].includes(standingOfRow(row, deliveriesOf(tail, row)))) bar.failing += 1
  }
  return bars
}
