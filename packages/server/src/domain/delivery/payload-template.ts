import { LIMITS } from '@postroad/contract'
import { Output, toValueSync, TypeGuards, type Template, type Token, type Value } from 'liquidjs'
import { parseStoredJson } from '../json/json-text.ts'
import { JsonWriter, readingWork, TextTooLong } from '../json/json-work.ts'
import { WorkBudget } from '../work-budget.ts'
import { engine, plainText, TemplateContext } from './template-engine.ts'

/** JSON whose strings are Liquid. A template cannot loop or read a file, and its work is counted (ADR 62). */

export type Compiled = { readonly usesSecret: boolean; readonly render: (scope: TemplateScope) => Rendered }
/** `data` is the payload byte for byte. */
export type TemplateScope = {
  readonly id: string
  readonly dataset: string
  readonly received_at: string
  readonly data: string
  readonly secret: string | undefined
}
/** The text of a JSON value, or a sentence with the reason why this record gives none. */
export type Rendered = { readonly ok: true; readonly body: string } | { readonly ok: false; readonly error: string }

const ROOTS = ['id', 'dataset', 'received_at', 'data', 'secret']

type Run = { readonly context: TemplateContext; readonly writer: JsonWriter }
/** Writes one part of the body. */
type Write = (run: Run) => void
type CompiledText = { readonly write: Write; readonly usesSecret: boolean }

/** Compiles the template once, or returns the sentence that refuses it, with the place of the error as a JSON pointer. */
export function compileTemplate(template: unknown): Compiled | { readonly error: string } {
  if (JSON.stringify(template).length > LIMITS.templateCharsMax)
    return { error: `payload_template: must be at most ${LIMITS.templateCharsMax} characters long.` }
  const compiler = new Compiler()
  const root = compiler.compile(template, '')
  const [fault] = compiler.faults
  if (fault !== undefined) return { error: fault }
  return { usesSecret: compiler.usesSecret, render: (scope) => render(root, scope) }
}

class Compiler {
  readonly faults: string[] = []
  usesSecret = false
  #strings = 0
  #outputs = 0

  compile(node: unknown, pointer: string): Write {
    if (typeof node === 'string') return this.#compileString(node, pointer)
    if (Array.isArray(node)) {
      const items = node.map((item, index) => this.compile(item, `${pointer}/${index}`))
      return (run) => run.writer.list(items, (write) => write(run))
    }
    if (typeof node === 'object' && node !== null) {
      const names = Object.keys(node)
      const values = Object.entries(node).map(([name, value]) =>
        this.compile(value, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
      )
      return (run) => run.writer.members(names, (_name, at) => values[at]?.(run))
    }
    return (run) => run.writer.value(node)
  }

  #compileString(text: string, pointer: string): Write {
    const compiled = this.#refuseTooMany(text) ?? compileText(text)
    if ('error' in compiled) {
      this.faults.push(`payload_template${pointer}: ${compiled.error}`)
      return () => undefined
    }
    this.usesSecret ||= compiled.usesSecret
    return compiled.write
  }

  /** Checked before the string is parsed. After the first error of this kind, nothing more is parsed. */
  #refuseTooMany(text: string): { readonly error: string } | undefined {
    const { templateStringsMax, templateOutputsMax } = LIMITS
    this.#strings += 1
    this.#outputs += text.split('{{').length - 1
    if (this.#strings > templateStringsMax)
      return { error: `a template contains ${templateStringsMax} strings at most.` }
    if (this.#outputs > templateOutputsMax)
      return { error: `a template contains ${templateOutputsMax} {{ … }} at most.` }
    return undefined
  }
}

/** A string that is exactly one `{{ … }}` keeps the type of its value. */
function compileText(text: string): CompiledText | { readonly error: string } {
  if (!text.includes('{{') && !text.includes('{%'))
    return { write: ({ writer }) => writer.string(text), usesSecret: false }
  try {
    const parts = engine.parse(text)
    const outputs = parts.filter((part) => part instanceof Output)
    const names = new Set<string>()
    for (const { value } of outputs) {
      const error = validateValue(value, names)
      if (error !== undefined) return { error }
    }
    const [whole] = outputs
    const write = whole !== undefined && parts.length === 1 ? writeValue(whole) : writeText(parts.map(pieceOf))
    return { write, usesSecret: names.has('secret') }
  } catch (error) {
    return { error: `${reasonOf(error)}.` }
  }
}

/** Adds the first names of an output's paths to `names`. */
function validateValue({ initial, filters }: Value, names: Set<string>): string | undefined {
  const { templateFiltersPerOutputMax: max } = LIMITS
  if (filters.length > max) return `one {{ … }} takes ${max} filters at most.`
  // A named argument is a pair.
  const args = filters.flatMap((filter) => filter.args).map((arg) => (Array.isArray(arg) ? arg[1] : arg))
  const error = validateTokens([...initial.postfix, ...args], names)
  if (error !== undefined) return error
  const unknown = [...names].find((name) => !ROOTS.includes(name))
  return unknown === undefined ? undefined : `there is no ${unknown} here; a template sees ${ROOTS.join(', ')}.`
}

function validateTokens(tokens: readonly (Token | undefined)[], names: Set<string>): string | undefined {
  const open = [...tokens]
  for (let token = open.pop(); open.length > 0 || token !== undefined; token = open.pop()) {
    if (TypeGuards.isRangeToken(token)) open.push(token.lhs, token.rhs)
    if (!TypeGuards.isPropertyAccessToken(token)) continue
    const [root, ...steps] = token.props
    if (token.variable !== undefined) open.push(token.variable, ...token.props)
    else if (TypeGuards.isWordToken(root) || TypeGuards.isQuotedToken(root)) {
      names.add(root.content)
      open.push(...steps)
    } else return 'a path begins with a name, such as data.id.'
  }
  return undefined
}

function writeValue(output: Output): Write {
  return ({ context, writer }) => {
    const value = valueOf(output, context)
    if (typeof value === 'object' && value !== null) writer.raw(context.textOf(value))
    else writer.value(value ?? null)
  }
}

type Piece = string | Output

function pieceOf(part: Template): Piece {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- without tags, a part that is not an output is text
  return part instanceof Output ? part : (part.token as Token & { getContent: () => string }).getContent()
}

function writeText(pieces: readonly Piece[]): Write {
  return ({ context, writer }) => {
    let text = ''
    for (const piece of pieces) text += typeof piece === 'string' ? piece : textOf(valueOf(piece, context), context)
    writer.string(text)
  }
}

function valueOf(output: Output, context: TemplateContext): unknown {
  return toValueSync(output.value.value(context, false))
}

function textOf(value: unknown, context: TemplateContext): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'object' ? context.textOf(value) : plainText(value)
  context.budget.spend(text.length)
  return text
}

function render(root: Write, { data, ...scope }: TemplateScope): Rendered {
  const budget = new WorkBudget(LIMITS.templateWorkMax)
  try {
    budget.spend(readingWork(data, LIMITS.templateWorkMax))
    const parsed = parseStoredJson(data)
    if (!parsed.ok) return { ok: false, error: 'A template cannot read the JSON of this record.' }
    const context = new TemplateContext({ ...scope, data: parsed.value }, budget)
    const writer = new JsonWriter({ budget, charsMax: LIMITS.templateBodyCharsMax })
    root({ context, writer })
    return { ok: true, body: writer.text }
  } catch (error) {
    if (error instanceof TextTooLong) return TOO_LONG
    // liquidjs wraps errors below a path, so this checks the budget itself.
    if (budget.usedUp) return TOO_MUCH_WORK
    return { ok: false, error: `The payload template fails on this record: ${reasonOf(error)}.` }
  }
}

const TOO_LONG: Rendered = {
  ok: false,
  error: `The payload template renders a body longer than ${LIMITS.templateBodyCharsMax} characters.`,
}
const TOO_MUCH_WORK: Rendered = {
  ok: false,
  error:
    'The payload template needs more work for this record than one body may use. Use fewer filters, or apply them to smaller parts of the record.',
}

/** The message of liquidjs, on one line and without its own line and column. */
function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line
    .replace(/, line:\d+, col:\d+$/, '')
    .replace(/\.$/, '')
    .replace(
      /^tag (".+") not found$/,
      'the tag $1 is not supported; a template takes {{ … }} with filters, and no tags',
    )
    .slice(0, 300)
}
