import { LIMITS } from '@postroad/contract'
import { useId, type ReactElement } from 'react'
import { weekdayText } from '../ui/moments.ts'

const { rotationOverlapHoursMax } = LIMITS
/** The slider is finer for short times: hours, then days. */
const STOPS: readonly number[] = [0, 1, 2, 4, 8, 12, 24, 48, 72, 96, 120, 168, 240, 336, 480, rotationOverlapHoursMax]

/** How long the current secret or URL continues to work after a rotation: a slider. */
export function Overlap({
  hours,
  change,
  what,
}: {
  readonly hours: number
  readonly change: (hours: number) => void
  readonly what: string
}): ReactElement {
  const id = useId()
  const at = Math.max(0, STOPS.indexOf(hours))
  return (
    <div className="mb-3.5">
      <label htmlFor={id} className="mb-1 flex font-control">
        The current {what} remains valid for<output className="mono ml-auto text-data">{hoursText(hours)}</output>
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={STOPS.length - 1}
        value={at}
        aria-valuetext={hoursText(hours)}
        onChange={({ target }) => change(STOPS[Number(target.value)] ?? 0)}
        className="h-6 w-full accent-(--accent)"
      />
      <p className="mt-1 text-data text-ink-3">{sentence(hours, what)}</p>
    </div>
  )
}

function sentence(hours: number, what: string): string {
  if (hours === 0)
    return `The current ${what} stops working as soon as you rotate it. Requests that still use it are rejected.`
  return `If you rotate now, the current ${what} expires on ${weekdayText(Date.now() + hours * 3_600_000)}.`
}

function hoursText(hours: number): string {
  if (hours === 0) return 'not at all'
  return hours < 48 ? `${hours} h` : `${hours / 24} days`
}
