import { fairPart, type Others } from '../src/domain/delivery/fair-share.ts'
import { NO_SHARE, type LeaseInput } from '../src/pipeline/deliver/ports.ts'
import type { LaneRow } from './rows.ts'

/**
 * The free lanes with work that a lease call is granted, in order; whether the call left some to others, and whether
 * there are more.
 */
export function grantable(
  found: readonly LaneRow[],
  { input, others, isLast }: { readonly input: LeaseInput; readonly others: Others; readonly isLast: boolean },
): { readonly grants: readonly LaneRow[]; readonly more: boolean; readonly left: boolean } {
  const { held, avoid, fairly } = input.share ?? NO_SHARE
  const free = found.filter(({ lane }) => !avoid.includes(lane))
  const ready = free.slice(0, input.lanes_max)
  const part = fairly && input.any_due && !isLast ? fairPart({ held, free: ready.length, others }) : ready.length
  const left = part < ready.length
  return { grants: ready.slice(0, part), left, more: free.length > input.lanes_max && !left }
}
