import type { WorkCounter } from '../../domain/work-budget.ts'
import type { Heavy } from '../../platform/heavy/heavy.ts'

/** A part of a step that can need much work. It is pure, so its value can be computed again or elsewhere. */
export type Computation<Value> = {
  /** The part of the program that it belongs to. In one run, it has one value. */
  readonly key: object
  readonly workMax: number
  /** undefined: it needs more than this work. */
  readonly within: (workMax: number) => { readonly value: Value; readonly work: number } | undefined
  /** For the engine, which runs the instances of all workspaces. */
  readonly inThread: (heavy: Heavy) => Promise<Value>
}

/** A computation that must be done in a thread before the run can continue. */
export class TooHeavy extends Error {
  readonly key: object
  readonly inThread: Computation<unknown>['inThread']

  constructor({ key, inThread }: Computation<unknown>) {
    super('A step needs more work than the loop has for it.')
    this.key = key
    this.inThread = inThread
  }
}

/** The values that a run has computed, and the work that the loop still has for all runs of this turn. */
export type Computed = { readonly values: Map<object, unknown>; readonly work: WorkCounter }

/** About two milliseconds. */
const EACH_WORK_MAX = 1_048_576

/** Without `computed`, everything is computed here. */
export function compute<Value>(computation: Computation<Value>, computed: Computed | undefined): Value {
  if (computed === undefined) {
    const done = computation.within(computation.workMax)
    if (done === undefined) throw new Error('A computation has no value within its own limit.')
    return done.value
  }
  const { values, work } = computed
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a key is used with one type only
  if (values.has(computation.key)) return values.get(computation.key) as Value
  const workMax = Math.min(work.left, EACH_WORK_MAX)
  const done = workMax <= 0 ? undefined : computation.within(workMax)
  work.spend(done?.work ?? workMax)
  if (done === undefined) throw new TooHeavy(computation)
  values.set(computation.key, done.value)
  return done.value
}
