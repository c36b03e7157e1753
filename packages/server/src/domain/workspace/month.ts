/** Months are UTC months: a quota starts again when a month starts. */

/** The first day of the month of a time (milliseconds), such as 2026-11-01. */
export function monthOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 7)}-01`
}

/** The time (milliseconds) when the next month starts. */
export function nextMonthAt(ms: number): number {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}
