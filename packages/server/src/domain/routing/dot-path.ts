import { splitPath } from '@postroad/contract/plain'
import { isRawNumber } from '../json/json-text.ts'
import { setOwn } from '../json/own-property.ts'

/** A dot path, split once. The same steps are used for reading and writing. */
export type Path = readonly string[]

// At most three digits: a larger number is a name, so that no target can create a list of a billion holes.
const LIST_STEP = /^(?:0|[1-9]\d{0,2})$/

/** `items.0.id` → its steps. A literal dot in a key is `\.`. */
export function compilePath(path: string): Path {
  return splitPath(path)
}

/** The value at a path, or undefined. Only data of the sender counts, never `length`, `__proto__` or an inherited property. */
export function readPath(payload: unknown, path: Path): unknown {
  let value: unknown = payload
  for (const step of path) {
    if (!holds(value, step)) return undefined
    value = value[step]
  }
  return value
}

/**
 * Writes a value at a path, and creates the objects and lists on the way. A step that is a number is an index of a list, except
 * at the top. Holes in a list are null. A value in the way is replaced. Keys are data, so no prototype can be reached.
 */
export function writePath(
  root: Record<string, unknown>,
  write: { readonly path: Path; readonly value: unknown },
): void {
  const { path, value } = write
  let container: object = root
  for (const [at, step] of path.entries()) {
    const following = path[at + 1]
    if (following === undefined) {
      put(container, step, value)
    } else {
      container = containerAt(container, step, LIST_STEP.test(following))
    }
  }
}

function put(container: object, step: string, value: unknown): void {
  if (Array.isArray(container)) {
    for (let hole = container.length; hole < Number(step); hole += 1) container.push(null)
  }
  setOwn(container, step, value)
}

function containerAt(container: object, step: string, list: boolean): object {
  const found = holds(container, step) ? container[step] : undefined
  if (typeof found === 'object' && found !== null && Array.isArray(found) === list && !isRawNumber(found)) return found
  const made = list ? [] : {}
  put(container, step, made)
  return made
}

function holds(value: unknown, step: string): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return false
  if (step === 'length') return !Array.isArray(value)
  return step !== 'rawJSON' || !isRawNumber(value)
}
