/** The ranges for a replay, by the time at which the deliveries were created. */
export const RANGES = [
  { id: 'any', label: 'Any time' },
  { id: 'hour', label: 'Last hour' },
  { id: 'day', label: 'Last 24 hours' },
  { id: 'yesterday', label: 'Yesterday' },
  { id: 'between', label: 'Between…' },
] as const

export type RangeName = (typeof RANGES)[number]['id']

const HOUR_MS = 3_600_000

type Moments = { readonly from: string | undefined; readonly to: string | undefined }

/** The moments of a range now. Days are those of the browser. */
export function rangeOf(name: RangeName, now = Date.now()): Moments {
  switch (name) {
    case 'hour':
      return { from: text(now - HOUR_MS), to: undefined }
    case 'day':
      return { from: text(now - 24 * HOUR_MS), to: undefined }
    case 'yesterday':
      return { from: text(midnight(now, -1)), to: text(midnight(now, 0)) }
    case 'any':
    case 'between':
      return { from: undefined, to: undefined }
  }
}

/** The start of the day that is this many days from today. A day of a clock change is not 24 hours long. */
function midnight(now: number, days: number): number {
  const day = new Date(now)
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days).getTime()
}

function text(ms: number): string {
  return new Date(ms).toISOString()
}
