import type { RouteAnswer, Routes } from '@postroad/contract'
import { utcDateText } from '../../../ui/moments.ts'

export type Billing = RouteAnswer<Routes['billing']['get']>['billing']

export function count(value: number): string {
  return value.toLocaleString('en')
}

/** `Nov 1 to Nov 30, 2026`: the end of a period is the start of the next one. */
export function periodText({ start, end }: Billing['period']): string {
  const last = utcDateText(Date.parse(end) - 1)
  // The text has the year only once.
  return `${utcDateText(start).replace(last.slice(-', 2026'.length), '')} to ${last}`
}
