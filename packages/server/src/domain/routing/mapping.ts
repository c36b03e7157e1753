import type { Mapping, Transform } from '@postroad/contract'
import { LIMITS, LIST_STEP } from '@postroad/contract/plain'
import { isRawNumber, stringifyJson } from '../json/json-text.ts'
import { compilePath, type Path, writePath } from './dot-path.ts'
import { compileEventPath, readEvent, type EventSource } from './event-path.ts'
import type { RecordBound, RecordTexts } from './record-texts.ts'
import { compileTransform, type Apply } from './transform.ts'

/** The result of a list of mappings for a payload. 'whole': use the received text. */
export type Mapped = 'whole' | { readonly data: unknown; readonly text?: string }

/**
 * A list of mappings, ready for the road. `texts` limits the size of all records of an event, and reports when they are too
 * large; then there is no record. `text` is the text of the record, where it was needed to measure the record.
 */
export type CompiledMappings = (source: EventSource, texts?: RecordTexts) => Mapped

/** Reads the value from an event; undefined leaves the field out. */
type Take = (source: EventSource, texts: RecordTexts | undefined) => unknown
type Step = { readonly target: Path; readonly take: Take }

/**
 * Compiles a list of saved mappings once. An empty list takes the whole payload; otherwise the record has exactly the targets.
 * The same event gives the same record, and no code of a tenant runs. `stringifyJson` gives its text.
 */
export function compileMappings(mappings: readonly Mapping[]): CompiledMappings {
  if (mappings.length === 0) return () => 'whole'
  const steps = mappings.map(stepOf)
  const holes = holesOf(mappings)
  const bound = boundOf(mappings, holes)
  return (source, texts) =>
    texts === undefined || texts.certainlyFits(bound)
      ? build(steps, source)
      : buildText(steps, source, { texts, holes })
}

function build(steps: readonly Step[], source: EventSource): { readonly data: unknown } {
  const data: Record<string, unknown> = {}
  for (const { target, take } of steps) {
    const value = take(source, undefined)
    if (value !== undefined) writePath(data, { path: target, value })
  }
  return { data }
}

type Counted = { readonly texts: RecordTexts; readonly holes: number }

/** Builds the record and its text, which is joined from the texts of its values. Stops as soon as it is too large. */
function buildText(steps: readonly Step[], source: EventSource, { texts, holes }: Counted): Mapped {
  const data: Record<string, unknown> = {}
  const written: Record<string, unknown> = {}
  let chars = holes * HOLE_CHARS
  if (!texts.mayFit(chars)) return NO_RECORD
  for (const { target, take } of steps) {
    const value = take(source, texts)
    if (value === undefined) continue
    const text = texts.textOf(value)
    chars += text.length
    if (!texts.mayFit(chars)) return NO_RECORD
    writePath(data, { path: target, value })
    writePath(written, { path: target, value: new Written(text) })
  }
  return { data, text: joined(written) }
}

const NO_RECORD: Mapped = { data: undefined }

/** A value whose text is known. */
class Written {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

function joined(node: unknown): string {
  if (node instanceof Written) return node.text
  if (Array.isArray(node)) return `[${node.map(joined).join(',')}]`
  if (typeof node !== 'object' || node === null || isRawNumber(node)) return stringifyJson(node)
  return `{${Object.entries(node)
    .map(([name, value]) => `${stringifyJson(name)}:${joined(value)}`)
    .join(',')}}`
}

function stepOf(mapping: Mapping): Step {
  const target = compilePath(mapping.target)
  if (mapping.path === undefined) return { target, take: () => mapping.value }
  const path = compileEventPath(mapping.path)
  const { default: fallback, transform } = mapping
  if (transform === undefined) return { target, take: (source) => orDefault(readEvent(source, path), fallback) }
  const apply: Apply = compileTransform(transform)
  return {
    target,
    take: (source, texts) => {
      const value = readEvent(source, path)
      return orDefault(texts === undefined ? apply(value) : texts.transformed(transform, value, apply), fallback)
    },
  }
}

/** A null from the sender is a value; the default replaces only a missing value. */
function orDefault(value: unknown, fallback: unknown): unknown {
  return value === undefined ? fallback : value
}

/**
 * How many times the size of its input a transform can read or write: a letter can become three in upper case, JSON can
 * be escaped, and parsing is expensive.
 */
const PAYLOADS_OF: Readonly<Partial<Record<Transform, number>>> = { uppercase: 3, lowercase: 2, string: 2, json: 16 }

function boundOf(mappings: readonly Mapping[], holes: number): RecordBound {
  const bound = { fixedBytes: 2 + holes * HOLE_CHARS, values: 0, payloads: 0 }
  for (const { target, path, value, default: fallback, transform } of mappings) {
    // Each step of the target has quotation marks, a colon, a comma and the brackets of its container.
    bound.fixedBytes += 8 * Buffer.byteLength(target)
    for (const constant of [value, fallback])
      if (constant !== undefined) bound.fixedBytes += Buffer.byteLength(stringifyJson(constant))
    if (path === undefined) continue
    bound.values += 1
    const copies = (transform === undefined ? undefined : PAYLOADS_OF[transform]) ?? 1
    if (compileEventPath(path).of === 'request') bound.fixedBytes += copies * REQUEST_BYTES_MAX
    else bound.payloads += copies
  }
  return bound
}

/** The largest value of a request as JSON: each character of a header can take six. */
const REQUEST_BYTES_MAX = 6 * LIMITS.headerBytesMax
const HOLE_CHARS = 'null,'.length

/** A container of the record: the number of places up to its highest index, and its members. */
type Container = { places: number; readonly holds: Map<string, Container> }

/** The number of list places without a value, which become null. */
function holesOf(mappings: readonly Mapping[]): number {
  const root: Container = { places: 0, holds: new Map() }
  const containers = [root]
  for (const { target } of mappings) {
    let container = root
    for (const [at, step] of compilePath(target).entries()) {
      if (at > 0 && LIST_STEP.test(step)) container.places = Math.max(container.places, Number(step) + 1)
      const held = container.holds.get(step)
      const next: Container = held ?? { places: 0, holds: new Map() }
      if (held === undefined) containers.push(next)
      container.holds.set(step, next)
      container = next
    }
  }
  return containers.reduce((sum, { places, holds }) => sum + Math.max(0, places - holds.size), 0)
}
