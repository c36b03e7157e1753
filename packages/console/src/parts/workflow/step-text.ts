import type { Condition, Step, StepType } from '@postroad/contract'
import { conditionText } from '../condition-draft.ts'

export const TYPE_WORDS: Readonly<Record<StepType, string>> = {
  delay: 'Wait for a time',
  wait_for_event: 'Wait for an event',
  branch: 'Branch',
  deliver: 'Deliver',
  emit_event: 'Store an event',
  run_agent: 'Run an agent',
}

/** The names of the things that steps refer to, by their ids. */
export type NameOf = (id: string) => string

/** A step in one line: `Wait for payments where order_id = {{ payload.id }}, for 7 days at most`. */
export function stepText(step: Step, nameOf: NameOf): string {
  switch (step.type) {
    case 'delay':
      return step.seconds === undefined ? `Wait until ${step.until ?? '…'}` : `Wait ${secondsText(step.seconds)}`
    case 'wait_for_event':
      return `Wait for ${step.dataset || '…'} where ${whenText(step.conditions)}, for ${secondsText(step.timeout_seconds)} at most`
    case 'branch':
      return `Run the first branch that matches ${step.input === 'payload' ? 'the payload' : step.input}`
    case 'deliver':
      return `Deliver ${step.record === undefined ? 'the record' : `the record of ${step.record}`} to ${nameOf(step.destination) || '…'}${step.await === 'delivered' ? ' and wait for the answer' : ''}`
    case 'emit_event':
      return `Store ${step.data === undefined ? 'the payload' : 'an event'} in ${step.dataset || '…'}`
    case 'run_agent':
      return `Run ${nameOf(step.agent) || '…'} on ${step.input === undefined ? 'the payload' : 'an input'}`
  }
}

export function whenText(conditions: readonly Condition[]): string {
  return conditions.length === 0 ? 'always' : conditions.map(conditionText).join(' and ')
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** `90` is "1 minute 30 seconds". */
export function secondsText(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 1) return '…'
  const parts: string[] = []
  let rest = Math.round(seconds)
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}${count === 1 ? '' : 's'}`)
  }
  return parts.join(' ')
}
