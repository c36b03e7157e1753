import { LIMITS } from '@postroad/contract'
import { Context, Liquid, Output, toValueSync, type FilterImplOptions, type Template } from 'liquidjs'
import { isRawNumber, parseStoredJson, stringifyJson } from './json-text.ts'

/** JSON whose strings are Liquid, without a single tag and with a short list of filters: nothing of it can loop or read a file. */

export type Compiled = { readonly usesSecret: boolean; readonly render: (scope: TemplateScope) => Rendered }
/** `data` is the payload letter by letter. */
export type TemplateScope = { readonly id: string; readonly dataset: string; readonly received_at: string; readonly data: string; readonly secret: string | undefined }
/** The text of a JSON value, or the sentence that says why this record gives none. */
export type Rendered = { readonly ok: true; readonly body: string } | { readonly ok: false; readonly error: string }

const ROOTS = ['id', 'dataset', 'received_at', 'data', 'secret']
const TEXT_FILTERS = ['upcase', 'downcase', 'strip', 'truncate', 'append', 'prepend', 'url_encode', 'base64_encode']
const NUMBER_FILTERS = ['plus', 'minus', 'times', 'divided_by', 'round', 'floor', 'ceil', 'abs']
const OTHER_FILTERS = ['default', 'size', 'first', 'last']

/** For one body, all its strings together. */
const RENDER_MS = 250
const MEMORY_CHARS = 16_777_216
const STRINGS_MAX = 500

type Filter = (this: { context: Context }, ...args: unknown[]) => unknown

/** Fails at what may not be used at all; what a record lacks is no failure: empty in a text, null where it is the whole string. */
function createEngine(options: { readonly outputEscape?: (value: unknown) => string }): Liquid {
  const limits = { parseLimit: LIMITS.templateCharsMax, renderLimit: RENDER_MS, memoryLimit: MEMORY_CHARS }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type wants a text, any value may be given on
  const engine = new Liquid({ ownPropertyOnly: true, strictFilters: true, ...limits, ...(options as { outputEscape?: (value: unknown) => string }) })
  for (const name of Object.keys(engine.tags)) delete engine.tags[name]
  for (const name of Object.keys(engine.filters)) if (!OTHER_FILTERS.includes(name)) wrapFilter(engine, name)
  engine.registerFilter('json', function json(this: { context: Context }, value: unknown) {
    return textOf(value, this.context)
  })
  return engine
}

/** Numbers that a double cannot hold are their digits in a text, and doubles where one reckons with them. */
function wrapFilter(engine: Liquid, name: string): void {
  const original = engine.filters[name]
  delete engine.filters[name]
  if (typeof original !== 'function') return
  if (TEXT_FILTERS.includes(name)) {
    engine.registerFilter(name, taking(original, (value, context) => (typeof value === 'object' && value !== null ? textOf(value, context) : value)))
  }
  if (NUMBER_FILTERS.includes(name)) engine.registerFilter(name, taking(original, (value) => (isRawNumber(value) ? Number(value.rawJSON) : value)))
}

function taking(original: Extract<FilterImplOptions, (...args: never[]) => unknown>, convert: (value: unknown, context: Context) => unknown): Filter {
  return function filter(...args) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what liquidjs itself calls it with
    return (original as Filter).apply(this, args.map((value) => convert(value, this.context)))
  }
}

function textOf(value: unknown, context?: Context): string {
  const text = stringifyJson(value) ?? ''
  context?.memoryLimit.use(text.length)
  return text
}

const texts = createEngine({ outputEscape: liquidText })
const values = createEngine({})
/** liquidjs looks at its time before each piece that it renders. */
const LOOK_AT_TIME = values.parse(' ')

function liquidText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : textOf(value)
}

type Leaf = (context: Context) => unknown
type CompiledText = { readonly leaf: Leaf; readonly usesSecret: boolean }

/** Compiles the template once, or gives the sentence that refuses it, with the place of the fault as a JSON pointer. */
export function compileTemplate(template: unknown): Compiled | { readonly error: string } {
  if (JSON.stringify(template).length > LIMITS.templateCharsMax) return { error: `payload_template: may be ${LIMITS.templateCharsMax} characters long at most.` }
  const compiler = new Compiler()
  const root = compiler.compile(template, '')
  const [fault] = compiler.faults
  if (fault !== undefined) return { error: fault }
  if (compiler.strings > STRINGS_MAX) return { error: `payload_template: may hold ${STRINGS_MAX} strings at most.` }
  return { usesSecret: compiler.usesSecret, render: (scope) => render(root, scope) }
}

class Compiler {
  readonly faults: string[] = []
  strings = 0
  usesSecret = false

  compile(node: unknown, pointer: string): Leaf {
    if (typeof node === 'string') return this.#compileString(node, pointer)
    if (Array.isArray(node)) {
      const items = node.map((item, index) => this.compile(item, `${pointer}/${index}`))
      return (context) => items.map((item) => item(context))
    }
    if (typeof node === 'object' && node !== null) {
      const members = Object.entries(node).map(([name, value]) => [name, this.compile(value, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)] as const)
      return (context) => Object.fromEntries(members.map(([name, value]) => [name, value(context)]))
    }
    return () => node
  }

  #compileString(text: string, pointer: string): Leaf {
    this.strings += 1
    const compiled = compileText(text)
    if ('error' in compiled) {
      this.faults.push(`payload_template${pointer}: ${compiled.error}`)
      return () => null
    }
    this.usesSecret ||= compiled.usesSecret
    return compiled.leaf
  }
}

/** A string that is one `{{ … }}` and nothing else keeps the type of its value. */
function compileText(text: string): CompiledText | { readonly error: string } {
  if (!text.includes('{{') && !text.includes('{%')) return { leaf: () => text, usesSecret: false }
  try {
    const [whole, ...rest] = values.parse(text)
    const names = values.globalVariablesSync(text)
    const unknown = names.find((name) => !ROOTS.includes(name))
    if (unknown !== undefined) return { error: `there is no ${unknown} here; a template sees ${ROOTS.join(', ')}.` }
    const usesSecret = names.includes('secret')
    if (whole instanceof Output && rest.length === 0) return { leaf: wholeValue(whole), usesSecret }
    const parsed: Template[] = texts.parse(text)
    return { leaf: (context) => texts.renderSync(parsed, context), usesSecret }
  } catch (error) {
    return { error: `${reasonOf(error)}.` }
  }
}

function wholeValue(output: Output): Leaf {
  return (context) => {
    values.renderSync(LOOK_AT_TIME, context)
    const value: unknown = toValueSync(output.value.value(context, false))
    return value === undefined ? null : value
  }
}

function render(root: Leaf, { data, ...scope }: TemplateScope): Rendered {
  const parsed = parseStoredJson(data)
  if (!parsed.ok) return { ok: false, error: 'The record is no JSON that a template can read.' }
  try {
    const body = stringifyJson(root(new Context({ ...scope, data: parsed.value }, values.options, { sync: true })))
    return body.length > LIMITS.templateBodyCharsMax ? { ok: false, error: `The payload template gives a body longer than ${LIMITS.templateBodyCharsMax} characters.` } : { ok: true, body }
  } catch (error) {
    return { ok: false, error: `The payload template fails on this record: ${reasonOf(error)}.` }
  }
}

/** What liquidjs says, in one line and without the place in its own count. */
function reasonOf(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line
    .replace(/, line:\d+, col:\d+$/, '')
    .replace(/\.$/, '')
    .replace(/^tag (".+") not found$/, 'the tag $1 is not known here; a template takes {{ … }} with filters, and no tags')
    .slice(0, 300)
}
