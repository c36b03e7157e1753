import { setOwn } from '../json/own-property.ts'
import { readPath, type Path } from '../routing/dot-path.ts'
import { isBranch } from './flatten.ts'

/**
 * A payload with only the values at these paths. A list or an object there is empty, and lists on the way are objects, so only
 * single values and the presence of others can be read.
 */
export function outlineOf(payload: unknown, paths: readonly Path[]): unknown {
  if (!isBranch(payload)) return null
  const outline = {}
  for (const path of paths) {
    const value = readPath(payload, path)
    if (value !== undefined) place(outline, { path, value })
  }
  return outline
}

function place(outline: object, { path, value }: { readonly path: Path; readonly value: unknown }): void {
  let holder = outline
  for (const [at, step] of path.entries()) {
    const held: unknown = Object.hasOwn(holder, step) ? Reflect.get(holder, step) : undefined
    const isLast = at === path.length - 1
    if (isBranch(held)) holder = held
    else if (isLast && !isBranch(value)) setOwn(holder, step, value)
    else {
      const made = {}
      setOwn(holder, step, made)
      holder = made
    }
  }
}
