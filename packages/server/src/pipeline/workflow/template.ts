import {
  compileValue as compile,
  renderValue,
  stepBudget,
  type RenderedValue,
  type StepScope,
} from '../../domain/automation/value-template.ts'

export type Scope = StepScope
export type Template = (scope: StepScope) => RenderedValue

/** A value of a stored step. Its templates were checked when it was saved, so a fault appears only when the rules have changed. */
export function compileValue(value: unknown): Template {
  const compiled = compile(value)
  if ('error' in compiled) {
    const { error } = compiled
    return () => ({ ok: false, error })
  }
  return (scope) => renderValue(compiled, { scope, budget: stepBudget() })
}
