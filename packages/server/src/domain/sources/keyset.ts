/** The position of a source that reads a database: the last row that is stored, and what is known about newer rows. */
export type KeysetPosition = {
  /** The values of the cursor and the key column as the database writes them; null: nothing has been read, start at the first row. */
  readonly after: Bound | null
  /**
   * For a cursor that is no time: the newest row when it was looked for, and when that was. Rows up to it are read once that
   * is `lag_seconds` ago. Null: look for it.
   */
  readonly seen: (Bound & { readonly at: number }) | null
}

export type Bound = { readonly cursor: string; readonly key: string | null }

/** The rows to ask a database for. */
export type KeysetQuery = {
  readonly query: string
  readonly cursorColumn: string
  readonly keyColumn: string | null
  readonly after: Bound | null
  readonly upTo: Bound | null
  /** Only rows whose cursor, a time, is at least this old. */
  readonly lagSeconds: number
  readonly limit: number
}

/** One row. `json` is null for a row that is too large to be stored. */
export type KeysetRow = Bound & { readonly json: string | null }

export const isSameBound = (a: Bound | null, b: Bound | null): boolean => a?.cursor === b?.cursor && a?.key === b?.key

/** `more`: further rows are waiting. */
export type KeysetPage = { readonly rows: readonly KeysetRow[]; readonly more: boolean }
