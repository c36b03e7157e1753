import type { Condition, Step } from '@postroad/contract'
import { LIMITS } from '@postroad/contract/plain'
import { dryRunSteps } from '../domain/automation/dry-run.ts'
import { stepBudget, type StepScope } from '../domain/automation/value-template.ts'
import { parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { compileConditions } from '../domain/routing/condition.ts'
import type { RequestView } from '../domain/routing/event-path.ts'
import { explain } from '../domain/routing/explain.ts'
import { WorkCounter } from '../domain/work-budget.ts'
import { task } from '../platform/heavy/task.ts'

/** Work for each character of the payload, which templates and conditions may read. */
const READ_WORK = 8

export type WorkflowTried = {
  readonly entry_conditions: readonly Condition[]
  readonly steps: readonly Step[]
  readonly scope: Omit<StepScope, 'steps' | 'payload' | 'request'>
  readonly outputs: Readonly<Record<string, unknown>>
}

/** `tried`: JSON of `WorkflowTried`; `payload`: JSON. */
type Asked = { readonly tried: string; readonly payload: string; readonly request: RequestView | null }
/** `failed` and `steps` are JSON. */
type Done = {
  readonly failed: string
  readonly steps: string
  readonly complete: boolean
  readonly isStarting: boolean
}

/** Shows the effects that a workflow would have on one payload. Nothing is stored, and no step acts. */
export const dryRunWorkflow = task('workflow.dry-run', ({ tried, payload: text, request }: Asked): Done => {
  const [read, parsed] = [parseStoredJson(tried), parseStoredJson(text)]
  if (!read.ok) throw new Error(`A workflow is not JSON: ${read.error}`)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the dry run that asks
  const { entry_conditions, steps, scope, outputs } = read.value as WorkflowTried
  const payload = parsed.ok ? parsed.value : null
  const counter = new WorkCounter(LIMITS.dryRunWorkMax)
  counter.spend(READ_WORK * text.length)
  const failed = explain(compileConditions(entry_conditions, 'strict'), { payload, request, budget: counter })
  const { steps: shown, complete } = dryRunSteps({
    steps,
    scope: { ...scope, payload, request },
    outputs,
    budget: stepBudget(),
    counter,
  })
  return { failed: stringifyJson(failed), steps: stringifyJson(shown), complete, isStarting: failed === null }
})
