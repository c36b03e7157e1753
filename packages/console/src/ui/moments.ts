/**
 * Dates and times for people: "Nov 24, 2026", on a 24-hour clock, in the time zone of the browser unless another is named.
 * `h23` begins a day at 00:00, and `hour12: false` would write 24:00.
 */
type Moment = string | number

const MINUTES = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const SECONDS = { ...MINUTES, second: '2-digit' } as const
const DAY = { month: 'short', day: 'numeric' } as const
const DATE = { ...DAY, year: 'numeric' } as const

const written = (form: Intl.DateTimeFormatOptions): ((at: Moment) => string) => {
  const format = new Intl.DateTimeFormat('en-US', form)
  return (at) => format.format(new Date(at))
}

/** "15:04". */
export const clockText = written(MINUTES)

/** "15:04:05". */
export const secondText = written(SECONDS)

/** "Nov 24". */
export const dayText = written(DAY)

/** "Nov 24, 2026". */
export const dateText = written(DATE)

/** "Nov 24, 2026", in UTC as the server counts days. */
export const utcDateText = written({ ...DATE, timeZone: 'UTC' })

/** "November 2026", in UTC. */
export const utcMonthText = written({ month: 'long', year: 'numeric', timeZone: 'UTC' })

/** "Nov 24, 15:04". */
export const momentText = written({ ...DAY, ...MINUTES })

/** "Nov 24, 15:04:05". */
export const momentSecondText = written({ ...DAY, ...SECONDS })

/** "Tue, Nov 24, 15:04". */
export const weekdayText = written({ weekday: 'short', ...DAY, ...MINUTES })

/** "Tue, Nov 24, 15:04", in a time zone. */
export function weekdayTextIn(timeZone: string, at: Moment): string {
  return written({ weekday: 'short', ...DAY, ...MINUTES, timeZone })(at)
}

/** "Nov 24, 2026, 15:04:05 GMT+1": a tooltip. */
export const fullText = written({ dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' })
