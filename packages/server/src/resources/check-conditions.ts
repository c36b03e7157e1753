import type { Conditions } from '@postroad/contract'
import { refuse } from '../domain/refusal.ts'
import { validatePattern } from '../domain/routing/regex/bounds.ts'

/** Contract part 2, condition rules 4 and 6: refuses an unsupported pattern on save. */
export function checkConditions(conditions: Conditions | undefined, member: string): void {
  conditions?.forEach((condition, index) => {
    if (!('op' in condition) || condition.op !== 'regex') return
    const why = validatePattern(condition.value)
    if (why !== undefined) throw refuse('invalid_request', `${member}[${index}].value: ${why}`)
  })
}
