import type { Conditions } from '@postroad/contract'
import { refuse } from '../domain/refusal.ts'
import { whyUnsafe } from '../domain/routing/regex/bounds.ts'

/** Contract part 2, condition rules 4 and 6: a pattern outside the dialect is refused on save. */
export function checkConditions(conditions: Conditions | undefined, member: string): void {
  conditions?.forEach((condition, index) => {
    if (!('op' in condition) || condition.op !== 'regex') return
    const why = whyUnsafe(condition.value)
    if (why !== undefined) throw refuse('invalid_request', `${member}[${index}].value: ${why}`)
  })
}
