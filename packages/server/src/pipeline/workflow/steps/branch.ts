import { readPath } from '../../../domain/routing/dot-path.ts'
import { WorkBudget } from '../../../domain/work-budget.ts'
import type { InstructionOf } from '../compile.ts'
import type { RunDraft } from '../run-draft.ts'

const WORK_MAX = 50_000_000

/** The first arm whose conditions all match; otherwise `else`; otherwise nothing. */
export function takeBranch(run: RunDraft, { step, of, arms, otherwise, end }: InstructionOf<'branch'>): void {
  const { payload, steps } = run.known()
  const document = of.length === 0 ? payload : readPath({ steps }, of)
  const budget = new WorkBudget(WORK_MAX)
  const spend = (work: number): undefined => {
    budget.spend(work)
  }
  const arm = arms.find(({ conditions }) => {
    // `spend` never waits, so one step of the generator runs it to its end.
    const found = conditions.firstFailure(document, spend).next()
    return found.done === true && found.value === undefined
  })
  const other = step.else === undefined ? { taken: null, next: end } : { taken: 'else', next: otherwise }
  const { taken, next } = arm === undefined ? other : { taken: arm.name, next: arm.at }
  run.succeed(step, { output: { taken }, next })
}
