import type { OutboundReach } from '../outbound-reach.ts'

/** The place of a foreign database, and the user that reads it. `password` is secret. */
export type DatabasePlace = {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
  readonly tls: { readonly mode: 'verify' | 'off'; readonly ca: string | null }
}

/** The values of the cursor and the key column of a row, as the database writes them. */
export type Bound = { readonly cursor: string; readonly key: string | null }

export type KeysetQuery = {
  readonly query: string
  readonly cursorColumn: string
  readonly keyColumn: string | null
}

export type KeysetBounds = {
  readonly after: Bound | null
  readonly upTo: Bound | null
  /** Only rows whose cursor, a time, is at least this old. */
  readonly lagSeconds: number
  readonly limit: number
}

/** One row. `json` is null for a row that is too large to be stored. */
export type KeysetRow = Bound & { readonly json: string | null }

/** `more`: further rows are waiting. */
export type KeysetPage = { readonly rows: readonly KeysetRow[]; readonly more: boolean }

/** One read-only transaction of a database. */
export type DatabaseReader = {
  /** Whether the cursor is a time, which the database compares with its clock. */
  readonly isTime: () => Promise<boolean>
  /** The last row of the query; null: it has none. */
  readonly newest: () => Promise<Bound | null>
  readonly rows: (bounds: KeysetBounds) => Promise<KeysetPage>
}

export type ReadDatabase = <T>(
  at: {
    readonly reach: OutboundReach
    readonly place: DatabasePlace
    readonly of: KeysetQuery
    /** The most bytes of all rows, and of one row. */
    readonly bytesMax: number
    readonly rowBytesMax: number
    readonly signal: AbortSignal
  },
  work: (reader: DatabaseReader) => Promise<T>,
) => Promise<T>

/** The parts of `ReadDatabase` that the reader of a connection needs. */
export type Reading = { readonly of: KeysetQuery; readonly bytesMax: number; readonly rowBytesMax: number }
