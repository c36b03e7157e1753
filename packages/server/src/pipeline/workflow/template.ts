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

/** The rendered value; without a template, the payload of the workflow. */
export function renderedOr(
  template: Template | undefined,
  run: { readonly scope: () => StepScope },
): { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string } {
  const scope = run.scope()
  return template === undefined ? { ok: true, value: scope.payload } : template(scope)
}
