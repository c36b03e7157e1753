import { LIMITS } from '@postroad/contract/plain'
import { flatten } from '../domain/capture/flatten.ts'
import { rowOf, rowWriter, type Column, type SheetRecord } from '../domain/capture/record-sheet.ts'
import { parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { task } from '../platform/heavy/task.ts'
import { KeyGatherer, type KeyLists } from './key-lists.ts'

export type RowsAsked = {
  /** Each with its payload as JSON. */
  readonly records: readonly (Omit<SheetRecord, 'payload'> & { readonly data: string })[]
  /** null: every column of each row. */
  readonly view: readonly Column[] | null
  /** A longer row does not fit into the table. */
  readonly charsMax: number
}

/** A row as JSON, and the length that it takes in the table; null: it does not fit. */
export type WrittenRow = { readonly json: string; readonly chars: number } | null
export type WrittenRows = KeyLists & { readonly rows: readonly WrittenRow[] }

/** Writes records as rows of a table. Without a view, the lists have the columns of each row. */
export function rowsOf({ records, view, charsMax }: RowsAsked): WrittenRows {
  const gatherer = new KeyGatherer(Infinity)
  const write = view === null ? undefined : rowWriter(view)
  const rows = records.map(({ data, ...record }): WrittenRow => {
    const sheetRecord = { ...record, payload: payloadOf(data) }
    if (write !== undefined) {
      const { row, chars } = write(sheetRecord)
      return chars > charsMax ? null : { json: stringifyJson(row), chars }
    }
    const flat = flatten(sheetRecord.payload, charsMax)
    gatherer.add(flat === undefined ? [] : Object.keys(flat.columns))
    return flat === undefined ? null : { json: stringifyJson(rowOf(sheetRecord, flat)), chars: flat.chars }
  })
  return { rows, keys: gatherer.keys, lists: gatherer.lists }
}

export const writeRows = task('records.rows', rowsOf)

export type ColumnsFound = KeyLists & {
  /** Whether all columns of a payload are in its list. */
  readonly complete: readonly boolean[]
}

/** The columns that these payloads have; null: there is no payload. */
export function columnsIn(payloads: readonly (string | null)[]): ColumnsFound {
  const gatherer = new KeyGatherer(LIMITS.columnsCharsMax)
  const complete = payloads.map((data) => {
    const flat = data === null ? EMPTY : flatten(payloadOf(data), LIMITS.recordsAnswerCharsMax)
    return gatherer.add(flat === undefined ? [] : Object.keys(flat.columns)) && flat !== undefined
  })
  return { complete, keys: gatherer.keys, lists: gatherer.lists }
}

export const findColumnsIn = task('records.columns', columnsIn)

const EMPTY = { columns: {} }

function payloadOf(data: string): unknown {
  const parsed = parseStoredJson(data)
  return parsed.ok ? parsed.value : null
}
