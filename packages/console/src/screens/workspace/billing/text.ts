import type { RouteAnswer, Routes } from '@postroad/contract'

export type Billing = RouteAnswer<Routes['billing']['get']>['billing']

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** `1 February 2026`, in UTC as the server counts. */
export function dayOf(at: string): string {
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })
}
