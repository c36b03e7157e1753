import type { ReactElement } from 'react'
import { span } from '../../../ui/time.tsx'

const WIDTH = 640
const LEFT = 6
const TICKS = [1, 10, 60, 600, 3_600, 21_600, 86_400, 288_000] as const
const TICK_TEXTS = ['1 s', '10 s', '1 min', '10 min', '1 h', '6 h', '1 day', '80 h'] as const

/** The attempts of a schedule as dots on a logarithmic time axis: the first minutes matter as much as the days. */
export function ScheduleAxis({ waits }: { readonly waits: readonly number[] }): ReactElement {
  const times = waits.map((_wait, index) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0))
  const last = times.at(-1) ?? 0
  const scale = Math.log1p(Math.max(last, 60))
  const x = (seconds: number): number => LEFT + (Math.log1p(seconds) / scale) * (WIDTH - 2 * LEFT)
  const ticks = TICKS.map((seconds, index) => ({ seconds, text: TICK_TEXTS[index] })).filter(
    ({ seconds }) => seconds <= Math.max(last, 60),
  )
  const said = `${waits.length} attempts${last === 0 ? ', at once' : `, the last one ${span(last * 1_000)} after the first`}`
  return (
    <figure className="mb-3.5">
      <svg viewBox={`0 0 ${WIDTH} 44`} role="img" aria-label={said} className="h-auto w-full max-w-[640px]">
        <line x1={LEFT} x2={WIDTH - LEFT} y1="14" y2="14" stroke="var(--line-2)" />
        {ticks.map(({ seconds, text }) => (
          <g key={seconds}>
            <line x1={x(seconds)} x2={x(seconds)} y1="19" y2="24" stroke="var(--line-2)" />
            <text
              x={Math.min(x(seconds), WIDTH - 16)}
              y="37"
              textAnchor="middle"
              fontSize="10.5"
              fill="var(--ink-3)"
              fontFamily="var(--font-data)"
            >
              {text}
            </text>
          </g>
        ))}
        {times.map((seconds, index) => (
          <circle
            key={index}
            cx={x(seconds)}
            cy="14"
            r={index === 0 ? 5 : 3.5}
            fill={index === 0 ? 'var(--accent)' : 'var(--ink-2)'}
            stroke="var(--surface)"
            strokeWidth="1"
          />
        ))}
      </svg>
      <figcaption className="text-data text-ink-3">
        {said}. Each wait varies by up to 20% to spread out retries.
      </figcaption>
    </figure>
  )
}
