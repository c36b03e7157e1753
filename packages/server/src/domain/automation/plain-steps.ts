import { isRawNumber } from '../json/json-text.ts'
import { setOwn } from '../json/own-property.ts'
import { withPlainNumbers } from '../json/plain-numbers.ts'

/** The members of a step that become payloads. Each number in them stays as it was written. */
const OF_PAYLOADS: readonly string[] = ['data', 'input']
const OF_STEPS: readonly string[] = ['branches', 'else', 'steps']

/** The steps of a workflow with ordinary numbers, as their schema expects them, except in the payloads that they make. */
export function withPlainSteps(steps: unknown): unknown {
  if (!Array.isArray(steps)) return withPlainNumbers(steps)
  return steps.map(plainStep)
}

/** A step, or a branch of one. */
function plainStep(step: unknown): unknown {
  if (typeof step !== 'object' || step === null || Array.isArray(step) || isRawNumber(step))
    return withPlainNumbers(step)
  withPlainNumbers(step, [...OF_PAYLOADS, ...OF_STEPS])
  for (const [key, member] of Object.entries(step))
    if (OF_STEPS.includes(key)) setOwn(step, key, withPlainSteps(member))
  return step
}
