import { LIMITS } from '@postroad/contract'
import {
  compileValue as compile,
  isTooMuchWork,
  renderValue,
  type RenderedValue,
  type StepScope,
} from '../../domain/automation/value-template.ts'
import { parseStoredJson, stringifyJson } from '../../domain/json/json-text.ts'
import { WorkBudget } from '../../domain/work-budget.ts'
import { INSTALLATION } from '../../platform/heavy/heavy.ts'
import { renderStepValue } from '../../tasks/workflow-step.ts'
import type { Computation } from './compute.ts'

export type Scope = StepScope

/** A value of a stored step, compiled once. */
export type Template = {
  readonly value: unknown
  readonly render: (scope: StepScope, budget: WorkBudget) => RenderedValue
}

/** The templates of a stored step were checked when it was saved, so a fault appears only when the rules have changed. */
export function compileValue(value: unknown): Template {
  const compiled = compile(value)
  if (!('error' in compiled)) return { value, render: (scope, budget) => renderValue(compiled, { scope, budget }) }
  const { error } = compiled
  return { value, render: () => ({ ok: false, error }) }
}

export const rendering = (template: Template, scope: StepScope): Computation<RenderedValue> => ({
  key: template,
  workMax: LIMITS.templateWorkMax,
  within: (workMax) => {
    const budget = new WorkBudget(workMax)
    const value = template.render(scope, budget)
    const isOver = isTooMuchWork(value) && workMax < LIMITS.templateWorkMax
    return isOver ? undefined : { value, work: workMax - budget.left }
  },
  inThread: async (heavy) => {
    const input = { value: stringifyJson(template.value), scope: stringifyJson(scope) }
    const rendered = await heavy.run(renderStepValue, { workspaceId: INSTALLATION, input, work: Infinity })
    if (!rendered.ok) return rendered
    const parsed = parseStoredJson(rendered.text)
    return parsed.ok ? { ok: true, text: rendered.text, value: parsed.value } : { ok: false, error: parsed.error }
  },
})

type Rendering = { readonly scope: () => StepScope; readonly render: (template: Template) => RenderedValue }

/** The rendered value; without a template, the payload of the workflow. */
export function renderedOr(
  template: Template | undefined,
  run: Rendering,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string } {
  return template === undefined ? { ok: true, value: run.scope().payload } : run.render(template)
}
