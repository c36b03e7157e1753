import type { Split } from '@postroad/contract'
import { compilePath, readPath } from '../routing/dot-path.ts'

/** The items of a payload, each of which becomes a record; undefined: the payload becomes one. */
export type ItemsOf = (payload: unknown) => readonly unknown[] | undefined

/** undefined when the endpoint does not split. The payload of a body of lines is the list of them. */
export function compileSplit(split: Split): ItemsOf | undefined {
  if (split === null) return undefined
  if (split === 'lines' || split.path === '')
    return (payload) => (Array.isArray(payload) ? (payload as readonly unknown[]) : undefined)
  const path = compilePath(split.path)
  return (payload) => {
    const value = readPath(payload, path)
    if (Array.isArray(value)) return value as readonly unknown[]
    return value === undefined || value === null ? undefined : [value]
  }
}
