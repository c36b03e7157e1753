import { LIMITS, REQUEST_ROOT } from '@postroad/contract/plain'
import { Context, defaultOperators, Liquid, toValueSync, type FilterImplOptions } from 'liquidjs'
import { isRawNumber, stringifyJson } from '../json/json-text.ts'
import { JsonWriter } from '../json/json-work.ts'
import type { RequestView } from '../routing/event-path.ts'
import { compileSearch } from '../text-search.ts'
import type { WorkBudget } from '../work-budget.ts'

/** Liquid without tags, and with a short list of filters and operators. Each counts its work before it runs. */

/** The fixed cost of a filter or an operator, in characters. */
const STEP_WORK = 256
/** The cost of comparing two items. */
const ITEM_WORK = 128

/** The cost of a number in a range such as (1..9). */
const RANGE_ITEM_WORK = 16

/** The cost of each filter per character that it reads. The characters that it writes are counted too. */
const TEXT_FILTERS: Readonly<Record<string, number>> = {
  append: 1,
  prepend: 1,
  upcase: 8,
  downcase: 8,
  strip: 8,
  truncate: 4,
  url_encode: 16,
  base64_encode: 2,
}
const NUMBER_FILTERS = ['plus', 'minus', 'times', 'divided_by', 'round', 'floor', 'ceil', 'abs']
const OTHER_FILTERS = ['default', 'size', 'first', 'last']
const COMPARING_OPERATORS = ['==', '!=', '<', '<=', '>', '>=', 'contains']

/** The name of the request in templates. Liquid has no names with a dollar sign, so a letter that looks like it stands for it. */
const REQUEST_NAME = '\uff04request'
const IN_OUTPUTS = /\{\{(?:"[^"]*"|'[^']*'|(?!\}\})[^])*\}\}/g
const NAME_OR_TEXT = /"[^"]*"|'[^']*'|(?<![\w.])\$request\b/g

/** A template with the request under its name for the engine. Places in it stay the same. */
export function forEngine(text: string): string {
  if (!text.includes(REQUEST_ROOT)) return text
  return text.replaceAll(IN_OUTPUTS, (output) =>
    output.replaceAll(NAME_OR_TEXT, (found) => (found === REQUEST_ROOT ? REQUEST_NAME : found)),
  )
}

/** A name or a message of the engine, as people write it. */
export const asWritten = (text: string): string => text.replaceAll(REQUEST_NAME, REQUEST_ROOT)

/** The values that templates see, with the request under its name for the engine. */
export const withRequest = (scope: object, request: RequestView | null): object => ({
  ...scope,
  [REQUEST_NAME]: request ?? undefined,
})

type Filter = (this: { context: Context }, ...args: unknown[]) => unknown

/** The values that the expressions of one body see, and the work that they may do together. */
export class TemplateContext extends Context {
  readonly budget: WorkBudget
  inFilter = false
  readonly #texts = new Map<object, string>()
  readonly #counts = new Map<object, number>()

  constructor(scope: object, budget: WorkBudget) {
    super(scope, engine.options, { sync: true })
    this.budget = budget
    // liquidjs counts the numbers of a range here before it makes them. Its filters also count here, but they are counted below
    // instead.
    this.memoryLimit.use = (count) => {
      if (!this.inFilter) budget.spend(count * RANGE_ITEM_WORK)
    }
  }

  /** A list or an object is not a name, and converting one into a name takes time in proportion to its size. */
  override readProperty(...[holder, key]: Parameters<Context['readProperty']>): unknown {
    this.budget.spend(typeof key === 'string' ? STEP_WORK + key.length : STEP_WORK)
    if (typeof key === 'object') return undefined
    return key === 'size' ? this.#sizeOf(holder) : super.readProperty(holder, key)
  }

  /** The JSON of a list or an object, written only once. */
  textOf(value: object): string {
    const known = this.#texts.get(value)
    if (known !== undefined) return known
    const writer = new JsonWriter({ budget: this.budget })
    writer.value(value)
    this.#texts.set(value, writer.text)
    return writer.text
  }

  /** Members are counted only once, because each count reads all of them. */
  #sizeOf(holder: unknown): unknown {
    if (typeof holder !== 'object' || holder === null || Array.isArray(holder) || Object.hasOwn(holder, 'size'))
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- liquidjs itself calls it with this
      return super.readProperty(holder as Parameters<Context['readProperty']>[0], 'size')
    const known = this.#counts.get(holder)
    if (known !== undefined) return known
    const count = Object.keys(holder).length
    this.budget.spend(count * ITEM_WORK)
    this.#counts.set(holder, count)
    return count
  }
}

export const engine = createEngine()

/**
 * Fails on everything that is not allowed. A value that a record lacks is not an error: it is empty in a text, and null where
 * it is the whole string.
 */
function createEngine(): Liquid {
  const operators = { ...defaultOperators }
  for (const name of COMPARING_OPERATORS) operators[name] = comparing(name)
  const liquid = new Liquid({
    ownPropertyOnly: true,
    strictFilters: true,
    parseLimit: LIMITS.templateCharsMax,
    operators,
  })
  for (const name of Object.keys(liquid.tags)) delete liquid.tags[name]
  for (const name of Object.keys(liquid.filters)) {
    const original = liquid.filters[name]
    delete liquid.filters[name]
    const made = typeof original === 'function' ? countedFilter(name, original) : undefined
    if (made !== undefined) liquid.registerFilter(name, made)
  }
  liquid.registerFilter('json', function json(this: { context: Context }, value: unknown) {
    return jsonOf(value, countingContext(this.context))
  })
  return liquid
}

function countingContext(context: Context): TemplateContext {
  if (context instanceof TemplateContext) return context
  throw new TypeError('A template is rendered in a TemplateContext.')
}

function jsonOf(value: unknown, context: TemplateContext): string {
  context.budget.spend(STEP_WORK)
  if (typeof value === 'object' && value !== null && !isRawNumber(value)) return context.textOf(value)
  const writer = new JsonWriter({ budget: context.budget })
  if (value !== undefined) writer.value(value)
  return writer.text
}

type Handler = Extract<FilterImplOptions, (...args: never[]) => unknown>

/** undefined: a filter that templates do not have. */
function countedFilter(name: string, original: Handler): Filter | undefined {
  const work = TEXT_FILTERS[name]
  if (work !== undefined) return counted(original, { work, read: readText })
  if (NUMBER_FILTERS.includes(name)) return counted(original, { work: 1, read: readNumber })
  return OTHER_FILTERS.includes(name) ? counted(original, { work: 0, read: (value) => value }) : undefined
}

type Reading = {
  /** The work per character. */
  readonly work: number
  readonly read: (value: unknown, context: TemplateContext) => unknown
}

function counted(original: Handler, { work, read }: Reading): Filter {
  return function filter(...args) {
    const context = countingContext(this.context)
    context.budget.spend(STEP_WORK)
    const given = args.map((value) => read(value, context))
    for (const value of given) if (typeof value === 'string') context.budget.spend(value.length * work)
    context.inFilter = true
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- liquidjs itself calls it with these
    const made = (original as Filter).apply(this, given)
    context.inFilter = false
    if (work > 0 && typeof made === 'string') context.budget.spend(made.length)
    return made
  }
}

function readText(value: unknown, context: TemplateContext): unknown {
  if (typeof value !== 'object' || value === null) return value
  return isRawNumber(value) ? value.rawJSON : context.textOf(value)
}

/** In arithmetic, numbers that a double cannot represent become doubles. A list or an object is not a number. */
function readNumber(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return isRawNumber(value) ? Number(value.rawJSON) : undefined
}

type Compare = (left: unknown, right: unknown, context: Context) => boolean

function comparing(name: string): Compare {
  const original = defaultOperators[name]
  return (left, right, context) => {
    const counting = countingContext(context)
    counting.budget.spend(STEP_WORK)
    if (name === 'contains' && typeof left === 'string') return containsText(left, right, counting)
    if (name !== '==' && name !== '!=' && name !== 'contains' && (isContainer(left) || isContainer(right))) return false
    counting.budget.spend(comparingWork(left, right, counting))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- liquidjs itself calls it with these
    return toValueSync((original as Compare)(left, right, context))
  }
}

function containsText(text: string, wanted: unknown, { budget }: TemplateContext): boolean {
  if (typeof wanted === 'object' || wanted === undefined)
    return wanted !== undefined && isRawNumber(wanted) && text.includes(wanted.rawJSON)
  const needle = plainText(wanted)
  budget.spend(8 * (text.length + needle.length))
  return compileSearch(needle)(text)
}

/** A text, number or boolean as liquidjs writes it. */
export const plainText = (value: unknown): string => (typeof value === 'string' ? value : stringifyJson(value))

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isRawNumber(value)

/** Lists are compared item by item, and nested lists by their own items. */
function comparingWork(left: unknown, right: unknown, context: TemplateContext): number {
  if (typeof left === 'string') return typeof right === 'string' ? Math.min(left.length, right.length) : 0
  if (!Array.isArray(left)) return 0
  if (Array.isArray(right)) return ITEM_WORK * (context.textOf(left).length + context.textOf(right).length)
  return left.length * (ITEM_WORK + (typeof right === 'string' ? right.length : 0))
}
