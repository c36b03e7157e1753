import { LIMITS, REQUEST_ROOT, requestProblem } from '@postroad/contract/plain'
import { Output, toValueSync, TypeGuards, type Template, type Token, type Value } from 'liquidjs'
import { isRawNumber } from '../json/json-text.ts'
import type { JsonWriter } from '../json/json-work.ts'
import { asWritten, engine, forEngine, plainText, type TemplateContext } from './template-engine.ts'

/** JSON whose strings are Liquid: the part that payload templates and workflows share. */

export type Run = { readonly context: TemplateContext; readonly writer: JsonWriter }
/** Writes one part of the rendered JSON. */
type Write = (run: Run) => void

/** A path in a template: its first and its second name. `second` undefined: there is none, or it is computed. */
export type NamedPath = { readonly pointer: string; readonly root: string; readonly second: string | undefined }

export type JsonTemplate = { readonly write: Write; readonly paths: readonly NamedPath[] }
/** `pointer` is the place of the fault as a JSON pointer; the sentence has no subject. */
export type TemplateFault = { readonly error: string; readonly pointer: string }

export type TemplateRules = {
  /** The names that a path can start with. */
  readonly roots: readonly string[]
  /** A path to show in a refusal. */
  readonly example: string
  readonly stringCharsMax: number
}

/** Compiles a template once, or returns its first fault. */
export function compileJsonTemplate(template: unknown, rules: TemplateRules): JsonTemplate | TemplateFault {
  const compiler = new Compiler(rules)
  const write = compiler.compile(template, '')
  const [fault] = compiler.faults
  return fault ?? { write, paths: compiler.paths }
}

class Compiler {
  readonly faults: TemplateFault[] = []
  readonly paths: NamedPath[] = []
  readonly #rules: TemplateRules
  #strings = 0
  #outputs = 0

  constructor(rules: TemplateRules) {
    this.#rules = rules
  }

  compile(node: unknown, pointer: string): Write {
    if (typeof node === 'string') return this.#compileString(node, pointer)
    if (isRawNumber(node)) return ({ writer }) => writer.raw(node.rawJSON)
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
    const compiled = this.#refuseTooMany(text) ?? compileText(text, this.#rules)
    if ('error' in compiled) {
      this.faults.push({ error: compiled.error, pointer })
      return () => undefined
    }
    this.paths.push(...compiled.paths.map((path) => ({ pointer, ...path })))
    return compiled.write
  }

  /** Checked before the string is parsed. After the first error of this kind, nothing more is parsed. */
  #refuseTooMany(text: string): { readonly error: string } | undefined {
    const { templateStringsMax, templateOutputsMax } = LIMITS
    const { stringCharsMax } = this.#rules
    this.#strings += 1
    this.#outputs += text.split('{{').length - 1
    if (this.#strings > templateStringsMax)
      return { error: `a template can contain at most ${templateStringsMax} strings.` }
    if (this.#outputs > templateOutputsMax)
      return { error: `a template can contain at most ${templateOutputsMax} {{ … }}.` }
    if (hasTemplate(text) && text.length > stringCharsMax)
      return { error: `a string with {{ … }} can have at most ${stringCharsMax} characters; shorten it.` }
    return undefined
  }
}

type Path = Omit<NamedPath, 'pointer'>
type CompiledText = { readonly write: Write; readonly paths: readonly Path[] }

/** Whether a string is more than plain text. */
export const hasTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%')

/** A string that is exactly one `{{ … }}` keeps the type of its value. */
function compileText(text: string, rules: TemplateRules): CompiledText | { readonly error: string } {
  if (!hasTemplate(text)) return { write: ({ writer }) => writer.string(text), paths: [] }
  try {
    const parts = engine.parse(forEngine(text))
    const outputs = parts.filter((part) => part instanceof Output)
    const paths: Path[] = []
    for (const { value } of outputs) {
      const error = validateValue(value, { rules, paths })
      if (error !== undefined) return { error }
    }
    const [whole] = outputs
    const write = whole !== undefined && parts.length === 1 ? writeValue(whole) : writeText(parts.map(pieceOf))
    return { write, paths }
  } catch (error) {
    return { error: `${templateErrorText(error)}.` }
  }
}

type Collecting = { readonly rules: TemplateRules; readonly paths: Path[] }

/** Adds the paths of an output. */
function validateValue({ initial, filters }: Value, { rules, paths }: Collecting): string | undefined {
  const { templateFiltersPerOutputMax: max } = LIMITS
  if (filters.length > max) return `one {{ … }} can have at most ${max} filters.`
  // A named argument is a pair.
  const args = filters.flatMap((filter) => filter.args).map((arg) => (Array.isArray(arg) ? arg[1] : arg))
  const error = validateTokens([...initial.postfix, ...args], { rules, paths })
  if (error !== undefined) return error
  const unknown = paths.find(({ root }) => !rules.roots.includes(root))
  return unknown === undefined
    ? undefined
    : `${unknown.root} does not exist here; a template can use ${rules.roots.join(', ')}.`
}

function validateTokens(tokens: readonly (Token | undefined)[], { rules, paths }: Collecting): string | undefined {
  const open = [...tokens]
  for (let token = open.pop(); open.length > 0 || token !== undefined; token = open.pop()) {
    if (TypeGuards.isRangeToken(token)) open.push(token.lhs, token.rhs)
    if (!TypeGuards.isPropertyAccessToken(token)) continue
    const [root, ...steps] = token.props
    if (token.variable !== undefined) open.push(token.variable, ...token.props)
    else if (TypeGuards.isWordToken(root) || TypeGuards.isQuotedToken(root)) {
      const named = asWritten(root.content)
      const names = steps.map(contentOf)
      const problem = named === REQUEST_ROOT ? problemOfRequest(names) : undefined
      if (problem !== undefined) return problem
      paths.push({ root: named, second: names[0] })
      open.push(...steps)
    } else return `a path starts with a name, such as ${rules.example}.`
  }
  return undefined
}

/** A name that is computed, or read of a value, is not checked. */
function problemOfRequest(names: readonly (string | undefined)[]): string | undefined {
  const known = names.slice(0, 2)
  return known.length === 0 || known.includes(undefined) ? undefined : requestProblem(known.map((name) => name ?? ''))
}

const contentOf = (token: Token | undefined): string | undefined =>
  token !== undefined && (TypeGuards.isWordToken(token) || TypeGuards.isQuotedToken(token)) ? token.content : undefined

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

/** The message of liquidjs, on one line and without its own line and column. */
export function templateErrorText(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return asWritten(line)
    .replace(/, line:\d+, col:\d+$/, '')
    .replace(/\.$/, '')
    .replace(
      /^tag (".+") not found$/,
      'the tag $1 is not supported; a template takes {{ … }} with filters, and no tags',
    )
    .slice(0, 300)
}
