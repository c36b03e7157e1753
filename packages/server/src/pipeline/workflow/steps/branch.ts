import { readPath } from '../../../domain/routing/dot-path.ts'
import { stringifyJson } from '../../../domain/json/json-text.ts'
import { WorkBudget, WorkUsedUp } from '../../../domain/work-budget.ts'
import { INSTALLATION } from '../../../platform/heavy/heavy.ts'
import { takenArm, type TakenArm } from '../../../tasks/workflow-step.ts'
import type { InstructionOf } from '../compile.ts'
import type { Computation } from '../compute.ts'
import type { RunDraft } from '../run-draft.ts'

const WORK_MAX = 50_000_000

/** The first arm whose conditions all match; otherwise `else`; otherwise nothing. */
export function takeBranch(run: RunDraft, instruction: InstructionOf<'branch'>): void {
  const { step, arms, otherwise, end } = instruction
  const place = run.compute(taking(run, instruction))
  if (place === 'too_much_work') throw new WorkUsedUp()
  const arm = place === null ? undefined : arms[place]
  const other = step.else === undefined ? { taken: null, next: end } : { taken: 'else', next: otherwise }
  const { taken, next } = arm === undefined ? other : { taken: arm.name, next: arm.at }
  run.succeed(step, { output: { taken }, next })
}

function taking(run: RunDraft, instruction: InstructionOf<'branch'>): Computation<TakenArm> {
  const { step, of, arms } = instruction
  const { payload, request = null, steps } = run.known()
  const document = { payload: of.length === 0 ? payload : readPath({ steps }, of), request }
  return {
    key: instruction,
    workMax: WORK_MAX,
    within: (workMax) => {
      const budget = new WorkBudget(workMax)
      try {
        const place = arms.findIndex(({ conditions }) => conditions.firstFailure(document, budget) === undefined)
        return { value: place < 0 ? null : place, work: workMax - budget.left }
      } catch (error) {
        if (!(error instanceof WorkUsedUp)) throw error
        return workMax < WORK_MAX ? undefined : { value: 'too_much_work', work: workMax }
      }
    },
    inThread: (heavy) => {
      const lists = stringifyJson(step.branches.map(({ conditions }) => conditions))
      const input = { arms: lists, document: stringifyJson(document), workMax: WORK_MAX }
      return heavy.run(takenArm, { workspaceId: INSTALLATION, input, work: Infinity })
    },
  }
}
