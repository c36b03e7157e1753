import { tokensIn } from './tokens.ts'

/** The size that a cut leaves: characters of a text, items of a list, members of an object. */
type Measure = { readonly chars: number; readonly items: number; readonly members: number }

/** From nearly everything to nearly nothing. */
const MEASURES: readonly Measure[] = [
  { chars: 8_000, items: 200, members: 400 },
  { chars: 2_000, items: 50, members: 100 },
  { chars: 600, items: 20, members: 60 },
  { chars: 240, items: 8, members: 40 },
  { chars: 120, items: 4, members: 30 },
  { chars: 60, items: 2, members: 20 },
  { chars: 40, items: 1, members: 12 },
  { chars: 32, items: 0, members: 6 },
]
const NOTES_MAX = 8

export type Cut = {
  readonly value: unknown
  /** The places that were cut and what is missing there; empty: nothing is missing. */
  readonly missing: readonly string[]
}

/** The value with its long texts and lists shortened until it costs at most `tokens`. */
export function cutTo(value: unknown, tokens: number): Cut {
  let cut: Cut = { value, missing: [] }
  if (tokensIn(JSON.stringify(value) ?? '', tokens) <= tokens) return cut
  for (const measure of MEASURES) {
    const missing: string[] = []
    cut = { value: cutBy(measure, { value, at: '', missing }), missing: shortList(missing) }
    if (tokensIn(JSON.stringify(cut), tokens) <= tokens) return cut
  }
  return cut
}

function shortList(missing: readonly string[]): readonly string[] {
  if (missing.length <= NOTES_MAX) return missing
  return [...missing.slice(0, NOTES_MAX), `and ${missing.length - NOTES_MAX} more places`]
}

type Part = { readonly value: unknown; readonly at: string; readonly missing: string[] }

function cutBy(measure: Measure, { value, at, missing }: Part): unknown {
  if (typeof value === 'string') {
    if (value.length <= measure.chars) return value
    missing.push(`${at}: ${measure.chars} of ${value.length} characters`)
    return `${value.slice(0, measure.chars)}…`
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    if (value.length > measure.items) missing.push(`${at}: ${measure.items} of ${value.length} items`)
    return value
      .slice(0, measure.items)
      .map((item: unknown, index) => cutBy(measure, { value: item, at: joined(at, String(index)), missing }))
  }
  const members = Object.entries(value)
  if (members.length > measure.members) missing.push(`${at}: ${measure.members} of ${members.length} members`)
  return Object.fromEntries(
    members
      .slice(0, measure.members)
      .map(([name, member]) => [name, cutBy(measure, { value: member, at: joined(at, name), missing })]),
  )
}

function joined(at: string, step: string): string {
  const escaped = step.replaceAll('.', String.raw`\.`)
  return at === '' ? escaped : `${at}.${escaped}`
}

/** The part at a path such as `record.data.items.0`, in the syntax of conditions; undefined: there is none. */
export function partAt(value: unknown, path: string): unknown {
  let part = value
  for (const step of path.split(/(?<!\\)\./).map((text) => text.replaceAll(String.raw`\.`, '.'))) {
    if (typeof part !== 'object' || part === null || !Object.hasOwn(part, step)) return undefined
    part = Reflect.get(part, step)
  }
  return part
}
