import { plainDecimalText } from '@postroad/contract/plain'

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(Z|z|[+-]\d\d:?\d\d)?)?$/
const MAIL_DATE = /^(?:[A-Za-z]{3}, )?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d(?::\d\d)? (?:GMT|UTC|[+-]\d{4})$/

/** Seconds since 1970 stay below this until the year 5138; a larger number means milliseconds. */
const FIRST_MILLISECONDS = 1e11

/**
 * A time as RFC 3339 in UTC with milliseconds, from ISO 8601 (no zone: UTC), the dates of email and HTTP headers, or a number
 * of seconds or milliseconds since 1970; undefined for anything else. It never depends on the time zone of this machine.
 */
export function isoDate(text: string): string | undefined {
  const at = millisecondsOf(text.trim())
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function millisecondsOf(text: string): number {
  if (plainDecimalText(text) !== undefined) {
    const number = Number(text)
    return Math.abs(number) < FIRST_MILLISECONDS ? Math.round(number * 1000) : number
  }
  const iso = ISO.exec(text)
  if (iso === null) return MAIL_DATE.test(text) ? Date.parse(text) : Number.NaN
  const [, year, month, day, zone] = iso
  if (Number(day) > daysIn(Number(year), Number(month))) return Number.NaN
  const normal = text.toUpperCase().replace(' ', 'T').replace(',', '.')
  return Date.parse(zone === undefined && normal.length > 10 ? `${normal}Z` : normal)
}

/** Day 0 of the next month is the last day of this one. */
function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}
