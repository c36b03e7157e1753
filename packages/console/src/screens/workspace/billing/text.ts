import type { RouteAnswer, Routes } from '@postroad/contract'

export type Billing = RouteAnswer<Routes['billing']['get']>['billing']

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** `1 February 2026`, in UTC as the server counts. */
export function dayOf(at: string): string {
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
}

/** `1 November to 30 November 2026`: the end of a period is the start of the next one. */
export function periodText({ start, end }: Billing['period']): string {
  const last = dayOf(new Date(Date.parse(end) - 1).toISOString())
  // The text has the year only once.
  return `${dayOf(start).replace(last.slice(-5), '')} to ${last}`
}
