import { Output, toValueSync } from 'liquidjs'
import { engine, plainText, TemplateContext } from '../../domain/delivery/template-engine.ts'
import { WorkBudget } from '../../domain/work-budget.ts'

export type Scope = {
  readonly payload: unknown
  readonly record: { readonly id: string; readonly dataset: string; readonly received_at: string }
  readonly steps: Readonly<Record<string, unknown>>
  readonly workflow: { readonly id: string; readonly name: string; readonly version: number; readonly instance_id: string }
  readonly now: string
}
export type Rendered = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: string }
export type Template = (scope: Scope) => Rendered

/** TEMPORARY until the engine of workflow templates lands. */
export function compileValue(node: unknown): Template {
  return (scope) => {
    try {
      const context = new TemplateContext(scope, new WorkBudget(50_000_000))
      return { ok: true, value: render(node, context) }
    } catch (error) {
      return { ok: false, error: error instanceof Error ? error.message : String(error) }
    }
  }
}

function render(node: unknown, context: TemplateContext): unknown {
  if (typeof node === 'string') {
    if (!node.includes('{{')) return node
    const parts = engine.parse(node)
    const values = parts.map((part) =>
      part instanceof Output
        ? toValueSync(part.value.value(context, false))
        : (part.token as unknown as { getContent: () => string }).getContent(),
    )
    if (parts.length === 1) return values[0] ?? null
    return values.map((value) => (value === undefined || value === null ? '' : plainText(value))).join('')
  }
  if (Array.isArray(node)) return node.map((item) => render(item, context))
  if (typeof node === 'object' && node !== null)
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, render(value, context)]))
  return node
}
