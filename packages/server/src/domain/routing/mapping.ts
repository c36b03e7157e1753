import { LIST_STEP, type Mapping, type Transform } from '@postroad/contract'
import { isRawNumber, stringifyJson } from '../json/json-text.ts'
import { compilePath, type Path, readPath, writePath } from './dot-path.ts'
import type { RecordBound, RecordTexts } from './record-texts.ts'
import { compileTransform, type Apply } from './transform.ts'

/** What a list of mappings makes of a payload; 'whole' says: keep the text that came in. */
export type Mapped = 'whole' | { readonly data: unknown; readonly text?: string }

/**
 * A list of mappings, ready for the road. `texts` bounds what is made of an event, and says when that was too large: then there is
 * no record. `text` is that of the record, where it was needed to measure it.
 */
export type CompiledMappings = (payload: unknown, texts?: RecordTexts) => Mapped

/** The value for a payload; undefined leaves the field out. */
type Take = (payload: unknown, texts: RecordTexts | undefined) => unknown
type Step = { readonly target: Path; readonly take: Take }

/**
 * Compiles a list of saved mappings once. An empty list takes the whole payload; otherwise the record holds exactly
 * the targets. The same payload gives the same record, and no code of a tenant runs. `stringifyJson` gives its text.
 */
export function compileMappings(mappings: readonly Mapping[]): CompiledMappings {
  if (mappings.length === 0) return () => 'whole'
  const steps = mappings.map(stepOf)
  const holes = holesOf(mappings)
  const bound = boundOf(mappings, holes)
  return (payload, texts) =>
    texts === undefined || texts.certainlyHolds(bound)
      ? build(steps, payload)
      : buildText(steps, payload, { texts, holes })
}

function build(steps: readonly Step[], payload: unknown): { readonly data: unknown } {
  const data: Record<string, unknown> = {}
  for (const { target, take } of steps) {
    const value = take(payload, undefined)
    if (value !== undefined) writePath(data, { path: target, value })
  }
  return { data }
}

type Counted = { readonly texts: RecordTexts; readonly holes: number }

/** The record beside its text, which is put together from texts of its values; ends as soon as it is too large. */
function buildText(steps: readonly Step[], payload: unknown, { texts, holes }: Counted): Mapped {
  const data: Record<string, unknown> = {}
  const written: Record<string, unknown> = {}
  let chars = holes * HOLE_CHARS
  if (!texts.mayHold(chars)) return NO_RECORD
  for (const { target, take } of steps) {
    const value = take(payload, texts)
    if (value === undefined) continue
    const text = texts.textOf(value)
    chars += text.length
    if (!texts.mayHold(chars)) return NO_RECORD
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
  const path = compilePath(mapping.path)
  const { default: fallback, transform } = mapping
  if (transform === undefined) return { target, take: (payload) => orDefault(readPath(payload, path), fallback) }
  const apply: Apply = compileTransform(transform)
  return {
    target,
    take: (payload, texts) => {
      const value = readPath(payload, path)
      return orDefault(texts === undefined ? apply(value) : texts.transformed(transform, value, apply), fallback)
    },
  }
}

/** A null that the sender wrote is a value; only what is missing gives way to the default. */
function orDefault(value: unknown, fallback: unknown): unknown {
  return value === undefined ? fallback : value
}

/** How often a transform may read or write what it is given: three letters of one in upper case, escaped JSON; parsing is dear. */
const PAYLOADS_OF: Readonly<Partial<Record<Transform, number>>> = { uppercase: 3, lowercase: 2, string: 2, json: 16 }

function boundOf(mappings: readonly Mapping[], holes: number): RecordBound {
  const bound = { fixedBytes: 2 + holes * HOLE_CHARS, values: 0, payloads: 0 }
  for (const { target, path, value, default: fallback, transform } of mappings) {
    // Each step of the target in quotation marks, with a colon, a comma and the brackets of its container.
    bound.fixedBytes += 8 * Buffer.byteLength(target)
    for (const constant of [value, fallback])
      if (constant !== undefined) bound.fixedBytes += Buffer.byteLength(stringifyJson(constant))
    if (path === undefined) continue
    bound.values += 1
    bound.payloads += (transform === undefined ? undefined : PAYLOADS_OF[transform]) ?? 1
  }
  return bound
}

const HOLE_CHARS = 'null,'.length

/** A container of the record: how many places its highest one asks for, and what it holds. */
type Container = { places: number; readonly holds: Map<string, Container> }

/** How many places of lists hold nothing, and are null. */
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
