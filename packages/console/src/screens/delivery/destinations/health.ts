import type { RouteAnswer, Routes } from '@postroad/contract'
import { useAsk } from '../../../data/ask.ts'

export type Health = RouteAnswer<Routes['destinations']['health']>['health']

const POLL_MS = 15_000
/** Below this share the number is red. */
const GOOD_RATIO = 0.99

/** The attempts at a destination in the last hours: one answer for the list and the detail. */
export function useHealth(id: string, hours = 24) {
  return useAsk(
    ['destinations', 'health', id, hours],
    (client, signal) => client.destinations.health({ id, hours }, { signal }),
    { everyMs: POLL_MS, keep: true },
  )
}

/** The share that succeeded; less than all is never rounded up to 100 %. */
export function ratioText({ success_ratio }: Pick<Health, 'success_ratio'>): string {
  return success_ratio === null ? '–' : `${Math.floor(success_ratio * 1_000 + 1e-6) / 10}%`
}

export function isBad({ success_ratio }: Pick<Health, 'success_ratio'>): boolean {
  return (success_ratio ?? 1) < GOOD_RATIO
}
