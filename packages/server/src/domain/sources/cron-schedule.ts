import { Cron } from 'croner'

/** When a cron trigger runs. */
export type CronSchedule = { readonly expression: string; readonly time_zone: string }

const FIELDS = 5

/**
 * The reason why a schedule cannot be saved; undefined: it can. The library also reads seconds, years and names such as
 * @daily, which the check for five fields refuses. It gives up on a schedule without a run after some milliseconds, so
 * no schedule needs a budget.
 */
export function validateSchedule({ expression, time_zone }: CronSchedule, now: number): string | undefined {
  if (!isTimeZone(time_zone))
    return `time_zone: "${time_zone}" is not a time zone. Use a name of the IANA database, such as Europe/Berlin.`
  const fields = expression.split(/\s+/).length
  if (fields !== FIELDS)
    return `expression has ${fields} ${fields === 1 ? 'field' : 'fields'}, and must have 5: minute, hour, day of the month, month, day of the week. A trigger runs at most once a minute.`
  try {
    if (nextRun({ expression, time_zone }, now) === null)
      return 'expression: no day has this time, so the trigger would never run. Correct the day or the month.'
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^\w+: /, '') : 'it cannot be read'
    return `expression: ${why.replace(/\.?$/, '.')} Write five fields, such as "0 9 * * 1-5".`
  }
  return undefined
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The next runs of a valid schedule after a moment, at most `count`. */
export function nextRuns(schedule: CronSchedule, { after, count }: { after: number; count: number }): readonly Date[] {
  return new Cron(schedule.expression, { timezone: schedule.time_zone, mode: '5-part' }).nextRuns(
    count,
    new Date(after),
  )
}

/** The next run after a moment; null: there is none. */
export function nextRun(schedule: CronSchedule, after: number): Date | null {
  return nextRuns(schedule, { after, count: 1 })[0] ?? null
}
