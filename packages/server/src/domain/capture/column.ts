import { compilePath, type Path } from '../routing/dot-path.ts'

/** The columns of each row besides its payload. */
export const META_COLUMNS = ['_id', '_received_at', '_source'] as const
export type MetaColumn = (typeof META_COLUMNS)[number]

const META: ReadonlySet<string> = new Set(META_COLUMNS)
const SPECIAL = /[\\.]/g

export const isMetaColumn = (column: string): column is MetaColumn => META.has(column)

/**
 * A key as a step of a column: a dot is `\.`, a backslash `\\`. A top-level key with the name of a meta column gets one
 * backslash before it. No other key looks like that, because backslashes of keys are always doubled.
 */
export function columnName(key: string, place: 'top' | 'inner' = 'inner'): string {
  return place === 'top' && META.has(key) ? `\\${key}` : key.replaceAll(SPECIAL, '\\$&')
}

/** The path of a column in a payload: the inverse of `columnName`. */
export function columnPath(column: string): Path {
  const key = column.slice(1)
  return column.startsWith('\\') && META.has(key) ? [key] : compilePath(column)
}
