import { LIMITS, REQUEST_ROOT } from '@postroad/contract/plain'
import { parseStoredJson } from '../json/json-text.ts'
import { JsonWriter, readingWork, TextTooLong } from '../json/json-work.ts'
import { compileJsonTemplate, templateErrorText, type JsonTemplate } from '../templates/json-template.ts'
import type { RequestView } from '../routing/event-path.ts'
import { TemplateContext, withRequest } from '../templates/template-engine.ts'
import { WorkBudget } from '../work-budget.ts'

/** JSON whose strings are Liquid. A template cannot loop or read a file, and its work is counted (ADR 62). */

export type Compiled = {
  readonly usesSecret: boolean
  readonly usesRequest: boolean
  /** The template as JSON. */
  readonly source: string
  readonly render: (scope: TemplateScope) => Rendered
  /** The same with little work; undefined: it needs more. */
  readonly renderLight: (scope: TemplateScope) => Rendered | undefined
}
/** `data` is the payload byte for byte. */
export type TemplateScope = {
  readonly id: string
  readonly dataset: string
  readonly received_at: string
  readonly data: string
  readonly secret: string | undefined
  /** null: no sender sent the event, or the template does not read it. */
  readonly request: RequestView | null
}
/** The text of a JSON value, or a sentence with the reason why this record gives none. */
export type Rendered = { readonly ok: true; readonly body: string } | { readonly ok: false; readonly error: string }

const RULES = {
  roots: ['id', 'dataset', 'received_at', 'data', 'secret', REQUEST_ROOT],
  example: 'data.id',
  stringCharsMax: LIMITS.templateCharsMax,
}

/** Compiles the template once, or returns the sentence that refuses it, with the place of the error as a JSON pointer. */
export function compileTemplate(template: unknown): Compiled | { readonly error: string } {
  const source = JSON.stringify(template)
  if (source.length > LIMITS.templateCharsMax)
    return { error: `payload_template must be at most ${LIMITS.templateCharsMax} characters long.` }
  const compiled = compileJsonTemplate(template, RULES)
  if ('error' in compiled) return { error: `payload_template${compiled.pointer}: ${compiled.error}` }
  return {
    usesSecret: compiled.paths.some(({ root }) => root === 'secret'),
    usesRequest: compiled.paths.some(({ root }) => root === REQUEST_ROOT),
    source,
    render: (scope) => render(compiled, { scope, workMax: LIMITS.templateWorkMax }) ?? TOO_MUCH_WORK,
    renderLight: (scope) =>
      scope.data.length > LIGHT_CHARS_MAX ? undefined : render(compiled, { scope, workMax: LIGHT_WORK_MAX }),
  }
}

/** About two milliseconds. */
const LIGHT_WORK_MAX = LIMITS.templateWorkMax / 16
/** To count the work of a longer record is work too. */
const LIGHT_CHARS_MAX = 65_536

type Within = { readonly scope: TemplateScope; readonly workMax: number }

/** undefined: it needs more work. */
function render(
  { write }: JsonTemplate,
  { scope: { data, request, ...scope }, workMax }: Within,
): Rendered | undefined {
  const budget = new WorkBudget(workMax)
  try {
    budget.spend(readingWork(data, workMax))
    const parsed = parseStoredJson(data)
    if (!parsed.ok) return { ok: false, error: 'A template cannot read the JSON of this record.' }
    const context = new TemplateContext(withRequest({ ...scope, data: parsed.value }, request), budget)
    const writer = new JsonWriter({ budget, charsMax: LIMITS.templateBodyCharsMax })
    write({ context, writer })
    return { ok: true, body: writer.text }
  } catch (error) {
    if (error instanceof TextTooLong) return TOO_LONG
    // liquidjs wraps errors below a path, so this checks the budget itself.
    if (budget.usedUp) return undefined
    return { ok: false, error: `The payload template fails on this record: ${templateErrorText(error)}.` }
  }
}

const TOO_LONG: Rendered = {
  ok: false,
  error: `The payload template renders a body longer than ${LIMITS.templateBodyCharsMax} characters.`,
}
const TOO_MUCH_WORK: Rendered = {
  ok: false,
  error:
    'The payload template needs more work for this record than one body can use. Use fewer filters, or apply them to smaller parts of the record.',
}
