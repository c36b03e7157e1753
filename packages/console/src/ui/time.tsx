import { useEffect, useState, type ReactElement } from 'react'
import { dayText, fullText, secondText } from './moments.ts'

const pad = (ms: number): string => String(ms).padStart(3, '0')

/**
 * A moment with its milliseconds, and its day when that is not today. Where the dividers of a list name the day, all
 * moments have one width: `isDayShown` is false. The tooltip has the full time, UTC, and the distance to now.
 */
export function Time({ at, isDayShown = true }: { readonly at: string; readonly isDayShown?: boolean }): ReactElement {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  const title = `${fullText(at)}\n${at}`
  return (
    <time
      dateTime={at}
      title={title}
      onPointerEnter={({ currentTarget }) => {
        currentTarget.title = `${title}\n${distanceText(Date.now() - date.getTime())}`
      }}
      className="mono text-data whitespace-nowrap text-ink-2"
    >
      {isDayShown && !isToday && <span className="pr-1.5 text-ink-3">{dayText(at)}</span>}
      {secondText(at)}
      <span className="text-ink-3">.{pad(date.getMilliseconds())}</span>
    </time>
  )
}

/** "41 s", "3 min", "2 h": a rough distance in time. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000))
  if (seconds < 90) return `${seconds} s`
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** "3 min ago", or "in 3 min" for a moment that has not come yet. */
export function distanceText(pastMs: number): string {
  if (pastMs < -5_000) return `in ${span(-pastMs)}`
  return pastMs < 5_000 ? 'just now' : `${span(pastMs)} ago`
}

/** A duration, in milliseconds below a second. */
export function took(ms: number | null): string {
  if (ms === null) return '–'
  if (ms > 0 && ms < 1) return '<1 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : span(ms)
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`
  return count < 1_000_000 ? `${(count / 1_000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`
}

/** The time now, updated every second. All callers with the same step see the same moment. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(() => latest(everyMs))
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const wait = (): void => {
      timer = setTimeout(
        () => {
          setNow(latest(everyMs))
          wait()
        },
        everyMs - (Date.now() % everyMs),
      )
    }
    wait()
    return () => clearTimeout(timer)
  }, [everyMs])
  return now
}

/** The last moment that is a multiple of the step. */
function latest(everyMs: number): number {
  return Math.floor(Date.now() / everyMs) * everyMs
}

/** The duration of something that has not ended. */
export function Elapsed({ since }: { readonly since: string }): ReactElement {
  return <>{span(useNow() - Date.parse(since))}</>
}

/** Counts down to a moment: "in 41 s", "now". */
export function Countdown({ to }: { readonly to: string }): ReactElement {
  const left = Date.parse(to) - useNow()
  return (
    <time dateTime={to} title={fullText(to)} className="whitespace-nowrap">
      {left <= 0 ? 'now' : `in ${span(left)}`}
    </time>
  )
}
