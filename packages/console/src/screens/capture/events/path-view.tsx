import { useMemo, type ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { Countdown, took } from '../../../ui/time.tsx'
import { scaleOf, stepsOf, type Bar, type Step, type Story } from './path.ts'

const BARS: Readonly<Record<Bar['kind'], string>> = { ok: 'bg-ok', fail: 'bg-fail', sending: 'bg-accent opacity-50' }

/** Everything that happened to an event, and each destination that did not match, on one time line. */
export function PathView({
  story,
  webhookName,
}: {
  readonly story: Story
  readonly webhookName: (id: string) => string
}): ReactElement {
  const steps = useMemo(() => stepsOf(story, webhookName), [story, webhookName])
  const scale = useMemo(() => scaleOf(steps), [steps])
  return (
    <div
      className="max-h-[38vh] overflow-y-auto border-t border-line bg-sunken px-5 pt-2.5 pb-3"
      role="group"
      aria-label="Path of this event"
      tabIndex={0}
    >
      <ol>
        {steps.map((step) => (
          <Line key={step.id} step={step} scale={scale} />
        ))}
      </ol>
      {story.truncated && (
        <p className="pt-1 text-data text-ink-3">Only the first deliveries and attempts are shown.</p>
      )}
    </div>
  )
}

function Line({ step, scale }: { readonly step: Step; readonly scale: ReturnType<typeof scaleOf> }): ReactElement {
  const { tone, title, text, link, codes = [], nextAt, nextText = 'next attempt', tookMs, bars, missed } = step
  const last = bars.at(-1)
  return (
    <li
      className={`relative grid min-h-[25px] items-center gap-x-2 text-[12.5px] before:absolute before:inset-y-0 before:left-[5.5px] before:w-px before:bg-line-2 first:before:top-1/2 last:before:bottom-1/2 ${missed === true ? 'grid-cols-[14px_104px_minmax(0,1fr)]' : 'grid-cols-[14px_104px_minmax(0,1fr)_54px_112px] max-md:grid-cols-[14px_104px_minmax(0,1fr)_54px]'}`}
    >
      <span className="z-1 bg-sunken py-0.5">
        <Glyph tone={tone} label={missed === true ? 'not matched' : undefined} />
      </span>
      <b className={`truncate ${missed === true ? 'font-control text-ink-3' : 'font-strong'}`} title={title}>
        {title}
      </b>
      <span className="min-w-0 py-0.5 leading-[18px] break-words text-ink-3">
        {codes.map((code, index) => (
          <code
            key={index}
            className={`mono mr-1.5 inline-block text-meta font-control ${code.good ? 'text-ok-text' : 'text-fail'}`}
          >
            {code.text}
          </code>
        ))}
        {text}
        {link !== undefined && (
          <>
            {' '}
            <To screen={link.screen} search={{ sel: link.id }} className="text-accent underline">
              {link.text}
            </To>
          </>
        )}
        {nextAt !== null && nextAt !== undefined && (
          <>
            {nextText}{' '}
            <strong className="font-strong text-retry-text">
              <Countdown to={nextAt} />
            </strong>
          </>
        )}
      </span>
      {missed !== true && (
        <span className="mono text-right text-label text-ink-3">
          {tookMs === null ? (bars.length > 0 ? '–' : '') : took(tookMs)}
        </span>
      )}
      {missed !== true && (
        <span aria-hidden className="relative h-1.5 max-md:hidden">
          {bars.map((bar, index) => {
            const left = scale.at(bar.fromMs) * 100
            return (
              <i
                key={index}
                className={`absolute top-0 h-1.5 min-w-[3px] rounded-[2px] ${BARS[bar.kind]}`}
                style={{ left: `${Math.min(97, left)}%`, width: `${Math.max(0, scale.at(bar.toMs) * 100 - left)}%` }}
              />
            )
          })}
          {bars.length > 1 &&
            scale.cuts.map((at) => (
              <i
                key={at}
                className="absolute -top-0.5 h-2.5 w-1.5 -skew-x-[22deg] border-x border-ink-4"
                style={{ left: `${at * 100}%` }}
              />
            ))}
          {nextAt !== null && nextAt !== undefined && last !== undefined && (
            <i
              className="absolute top-0.5 right-0 h-0.5 bg-[repeating-linear-gradient(90deg,var(--retry)_0_3px,transparent_3px_6px)]"
              style={{ left: `${Math.min(90, scale.at(last.toMs) * 100 + 3)}%` }}
            />
          )}
        </span>
      )}
    </li>
  )
}
