import { decodeId } from '@postroad/contract'
import type { End, Lines } from './lines.ts'
import { keyOf, type Part, type Parts } from './parts.ts'

/** All parts with one end: one that is shown, or those of a kind that are left out. */
type Joined = {
  readonly end: End
  readonly files: Set<string>
  readonly takes: Set<string>
  takesAll: boolean
}

/** Draws the lines of the settings. Parts with the same end are joined first, so that their number is bounded. */
export function drawSettings(lines: Lines, parts: Parts): void {
  const ends = joinedOf(lines, parts)
  const rules = ends.filter(({ end }) => end.kind === 'rule')
  const hubs = ends.flatMap(({ end }) => (end.kind === 'dataset' ? [end] : []))
  for (const joined of ends) {
    const { end, files, takes, takesAll } = joined
    if (end.kind === 'ingest_key') for (const rule of rulesOf(joined, rules)) lines.configure(end, rule.end)
    for (const to of hubsOf(lines, files)) lines.configure(end, to)
    for (const from of takesAll ? hubs : hubsOf(lines, takes)) lines.configure(from, end)
  }
  for (const part of parts.values()) drawDeliveries(lines, part)
}

function joinedOf(lines: Lines, parts: Parts): readonly Joined[] {
  const joined = new Map<string, Joined>()
  for (const part of parts.values()) {
    const end = lines.end(part)
    const key = keyOf(end.kind, end.id ?? '')
    const one = joined.get(key) ?? { end, files: new Set(), takes: new Set(), takesAll: false }
    joined.set(key, one)
    const takes = part.is_customers ? [] : part.takes
    for (const name of part.files) one.files.add(name)
    for (const name of takes ?? []) one.takes.add(name)
    one.takesAll ||= takes === null
  }
  return [...joined.values()]
}

/** A key without a list of datasets reaches every rule; one with a list, the rules that file in one of them. */
function rulesOf({ files }: Joined, rules: readonly Joined[]): readonly Joined[] {
  return files.size === 0 ? rules : rules.filter((rule) => [...rule.files].some((name) => files.has(name)))
}

function hubsOf(lines: Lines, names: ReadonlySet<string>): readonly End[] {
  return [...names].flatMap((name) => {
    const part = lines.find('dataset', name)
    return part === undefined ? [] : [lines.end(part)]
  })
}

function drawDeliveries(lines: Lines, part: Part): void {
  for (const id of part.delivers) {
    const to = lines.find('destination', decodeId('destination', id) ?? '')
    if (to !== undefined) lines.configure(lines.end(part), lines.end(to))
  }
}
