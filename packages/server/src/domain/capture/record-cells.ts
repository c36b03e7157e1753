import { isMetaColumn, columnPath } from './column.ts'
import { isBranch, isEmpty } from './flatten.ts'
import { isRawNumber, stringifyJson } from '../json/json-text.ts'
import { readPath } from '../routing/dot-path.ts'

/** A record as one row of a table: a payload that was parsed without losing a digit. */
export type RowSource = { readonly id: string; readonly received_at: Date; readonly payload: unknown }

/** Reads the value of a column. undefined: the record has none, or the columns below this one have it. */
export function cellReader(column: string): (row: RowSource) => unknown {
  if (isMetaColumn(column)) return () => undefined
  const path = columnPath(column)
  return ({ payload }) => {
    if (!isBranch(payload)) return column === 'value' ? payload : undefined
    const value = readPath(payload, path)
    return isBranch(value) && !Array.isArray(value) && !isEmpty(value) ? undefined : value
  }
}

/** The text of a value in a cell: text as it is, everything else as JSON. */
export function cellText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value)
}

/** Whether the text of a value is a number, which no spreadsheet runs as a formula. */
export const isNumeric = (value: unknown): boolean => typeof value === 'number' || isRawNumber(value)
