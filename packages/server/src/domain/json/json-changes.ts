import { isRawNumber, stringifyJson } from './json-text.ts'
import { sameJson } from './same-json.ts'

/** A difference between two JSON values. A side without the member has no text. */
export type JsonChange = { readonly path: string; readonly before?: string; readonly after?: string }

/** The places where two values differ, as JSON pointers with JSON texts, at most this many. */
export function jsonChanges(before: unknown, after: unknown, max: number): readonly JsonChange[] {
  const changes: JsonChange[] = []
  const waiting: { path: string; before: unknown; after: unknown }[] = [{ path: '', before, after }]
  for (let at = waiting.pop(); at !== undefined && changes.length < max; at = waiting.pop()) {
    if (sameJson(at.before, at.after)) continue
    const members = membersOfBoth(at.before, at.after)
    if (members === undefined)
      changes.push({ path: at.path, ...textOf('before', at.before), ...textOf('after', at.after) })
    else
      waiting.push(
        ...members.map(({ name, ...sides }) => ({ path: `${at.path}/${escaped(name)}`, ...sides })).toReversed(),
      )
  }
  return changes
}

const isParent = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !isRawNumber(value)

/** The members of two objects, or of two lists; undefined: they are compared as a whole. */
function membersOfBoth(before: unknown, after: unknown) {
  if (!isParent(before) || !isParent(after) || Array.isArray(before) !== Array.isArray(after)) return undefined
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].map((name) => ({ name, before: own(before, name), after: own(after, name) }))
}

const own = (of: Readonly<Record<string, unknown>>, name: string): unknown =>
  Object.hasOwn(of, name) ? of[name] : undefined

const textOf = <Side extends string>(side: Side, value: unknown): Partial<Record<Side, string>> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object with this one member
  (value === undefined ? {} : { [side]: stringifyJson(value) }) as Partial<Record<Side, string>>

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')
