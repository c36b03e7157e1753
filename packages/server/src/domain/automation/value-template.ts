import { LIMITS, REQUEST_ROOT } from '@postroad/contract/plain'
import { parseStoredJson } from '../json/json-text.ts'
import { JsonWriter, TextTooLong } from '../json/json-work.ts'
import {
  compileJsonTemplate,
  templateErrorText,
  type JsonTemplate,
  type NamedPath,
  type TemplateFault,
} from '../templates/json-template.ts'
import type { RequestView } from '../routing/event-path.ts'
import { TemplateContext, withRequest } from '../templates/template-engine.ts'
import { WorkBudget } from '../work-budget.ts'

/** The values of a workflow's steps: JSON whose strings are Liquid, rendered when the step runs. */

/** Everything that the templates of a step see. */
export type StepScope = {
  readonly payload: unknown
  /** The request behind the record; null: no sender sent it. */
  readonly request: RequestView | null
  readonly record: { readonly id: string; readonly dataset: string; readonly received_at: string }
  /** By the id of the step, each with its `output`. Steps that have not run are absent. */
  readonly steps: Readonly<Record<string, unknown>>
  readonly workflow: { readonly id: string; readonly name: string; readonly version: number }
  readonly now: string
}

export type CompiledValue = {
  /** Every path that the value reads, for the checks of a definition. */
  readonly paths: readonly NamedPath[]
  readonly template: JsonTemplate
}

/** The JSON text and its value, or a sentence with the reason why the step has no input. */
export type RenderedValue =
  | { readonly ok: true; readonly text: string; readonly value: unknown }
  | { readonly ok: false; readonly error: string }

const RULES = {
  roots: ['payload', 'record', 'steps', 'workflow', 'now', REQUEST_ROOT],
  example: 'payload.id',
  stringCharsMax: LIMITS.workflowTemplateCharsMax,
}

/** Compiles a value once, or returns its first fault and the place of it. */
export function compileValue(value: unknown): CompiledValue | TemplateFault {
  const template = compileJsonTemplate(value, RULES)
  return 'error' in template ? template : { template, paths: template.paths }
}

/** The work that the values of one step may do together. */
export const stepBudget = (): WorkBudget => new WorkBudget(LIMITS.templateWorkMax)

/** Whether the work was used up before the value was rendered. */
export const isTooMuchWork = (rendered: RenderedValue): boolean => rendered === TOO_MUCH_WORK

/** Renders a value for one run of its step. It inserts the values that it reads, and never parses them as templates. */
export function renderValue(
  { template }: CompiledValue,
  { scope, budget }: { readonly scope: StepScope; readonly budget: WorkBudget },
): RenderedValue {
  const writer = new JsonWriter({ budget, charsMax: LIMITS.workflowValueCharsMax })
  try {
    const { request, ...values } = scope
    template.write({ context: new TemplateContext(withRequest(values, request), budget), writer })
  } catch (error) {
    if (error instanceof TextTooLong) return TOO_LONG
    // liquidjs wraps errors below a path, so this checks the budget itself.
    if (budget.usedUp) return TOO_MUCH_WORK
    return { ok: false, error: `A template in the step fails: ${templateErrorText(error)}.` }
  }
  const parsed = parseStoredJson(writer.text)
  return parsed.ok ? { ok: true, text: writer.text, value: parsed.value } : { ok: false, error: parsed.error }
}

const TOO_LONG: RenderedValue = {
  ok: false,
  error: `The templates of the step render more than ${LIMITS.workflowValueCharsMax} characters. Select smaller parts of the payload.`,
}
const TOO_MUCH_WORK: RenderedValue = {
  ok: false,
  error:
    'The templates of the step need more work than one step can use. Use fewer filters, or apply them to smaller parts of the payload.',
}
