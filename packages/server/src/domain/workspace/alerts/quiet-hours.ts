import { WEEKDAYS, type QuietHours } from '@postroad/contract'

const MINUTES_OF_DAY = 1_440

/** Whether a time (milliseconds) is in one of these quiet hours. They follow the clock of their zone, over its changes too. */
export function isQuiet(hours: readonly QuietHours[], now: number): boolean {
  return hours.some((one) => covers(one, now))
}

function covers({ days, from, to, time_zone }: QuietHours, now: number): boolean {
  const { day, minute } = localTime(time_zone, now)
  const [begin, end] = [minuteOf(from), minuteOf(to)]
  const beginsOn = (weekday: number): boolean => days.includes(WEEKDAYS[(weekday + 7) % 7] ?? 'mon')
  if (begin < end) return beginsOn(day) && minute >= begin && minute < end
  // They end on the day after the one on which they began.
  return (beginsOn(day) && minute >= begin) || (beginsOn(day - 1) && minute < end)
}

function minuteOf(time: string): number {
  const [hours = '0', minutes = '0'] = time.split(':')
  return (Number(hours) * 60 + Number(minutes)) % MINUTES_OF_DAY
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** The weekday (0: Monday) and the minute of the day, as a clock in this zone shows them. */
function localTime(timeZone: string, now: number): { readonly day: number; readonly minute: number } {
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
    })
  formats.set(timeZone, format)
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const day = WEEKDAYS.findIndex((name) => name === parts.get('weekday')?.toLowerCase())
  return { day, minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')) }
}
