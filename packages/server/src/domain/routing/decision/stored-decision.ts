import type { Decision } from '@postroad/contract'

/**
 * A decision as its submission stores it: everything that matched, and the plan by which it was made. The reasons of the rest
 * follow from the plan and the event (`explain-decision.ts`), so an event costs what it matches, not what its project has.
 */
export type StoredDecision = Pick<Decision, 'verified_scheme' | 'criteria' | 'items' | 'customer'> & {
  /** The rules that matched, in the order of the records that they made. Absent: the event did not reach the rules. */
  readonly rules?: readonly string[]
  readonly plan: string
  /** For each record, the destinations that matched. */
  readonly destinations: readonly (readonly string[])[]
  /** The workflows and triggers that started, each with the place of its record and the id of its instance or run. */
  readonly starts?: readonly (readonly [record: number, id: string, startedId: string])[]
}

/** Submissions from before plans were stored have their decision whole. */
export const isStoredWhole = (decision: object): decision is Decision => !Object.hasOwn(decision, 'plan')
