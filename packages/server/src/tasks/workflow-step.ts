import type { Condition } from '@postroad/contract'
import {
  compileValue,
  renderValue,
  stepBudget,
  type RenderedValue,
  type StepScope,
} from '../domain/automation/value-template.ts'
import { parseStoredJson } from '../domain/json/json-text.ts'
import { compileConditions } from '../domain/routing/condition.ts'
import type { EventSource } from '../domain/routing/event-path.ts'
import { WorkBudget, WorkUsedUp } from '../domain/work-budget.ts'
import { task } from '../platform/heavy/task.ts'

/** Both are JSON. */
type ValueAsked = { readonly value: string; readonly scope: string }
/** The JSON of a value, or the reason why there is none. */
type ValueText = { readonly ok: true; readonly text: string } | Extract<RenderedValue, { readonly ok: false }>

/** Renders a value of a step. */
export const renderStepValue = task('workflow.render', ({ value, scope }: ValueAsked): ValueText => {
  const compiled = compileValue(read(value))
  if ('error' in compiled) return { ok: false, error: compiled.error }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the run that asks
  const rendered = renderValue(compiled, { scope: read(scope) as StepScope, budget: stepBudget() })
  return rendered.ok ? { ok: true, text: rendered.text } : rendered
})

/** `arms` and `document` are JSON; the document is an `EventSource`. */
type BranchAsked = { readonly arms: string; readonly document: string; readonly workMax: number }

/** The place of the first arm whose conditions all match; null: none; 'too_much_work': it is not known. */
export const takenArm = task('workflow.branch', ({ arms, document, workMax }: BranchAsked): TakenArm => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the run that asks
  const [source, budget] = [read(document) as EventSource, new WorkBudget(workMax)]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by the run that asks
  const lists = (read(arms) as readonly Condition[][]).map((conditions) => compileConditions(conditions, 'strict'))
  try {
    const place = lists.findIndex((conditions) => conditions.firstFailure(source, budget) === undefined)
    return place < 0 ? null : place
  } catch (error) {
    if (!(error instanceof WorkUsedUp)) throw error
    return 'too_much_work'
  }
})

export type TakenArm = number | null | 'too_much_work'

function read(text: string): unknown {
  const parsed = parseStoredJson(text)
  return parsed.ok ? parsed.value : undefined
}
