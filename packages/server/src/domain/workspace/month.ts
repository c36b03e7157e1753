/** Months are UTC months: a quota begins anew at their turn. */

/** The first day of the month of a moment (milliseconds), such as 2026-11-01. */
export function monthOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 7)}-01`
}

/** The moment (milliseconds) when the month after this one begins. */
export function nextMonthAt(ms: number): number {
  const at = new Date(ms)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
}
