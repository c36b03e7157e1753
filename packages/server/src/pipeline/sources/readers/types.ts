import type { OutboundReach } from '../../../platform/outbound-reach.ts'
import type { Bound, KeysetPage, KeysetQuery } from '../../../domain/sources/keyset.ts'
import type { Connection } from '../../../domain/sources/connection.ts'

/** A database of somebody else. */
export type DatabasePlace = Connection & {
  readonly tls: { readonly mode: 'verify' | 'off'; readonly ca: string | null }
}

/** One read-only transaction of a database. */
export type DatabaseReader = {
  /** Whether the cursor is a time, which the database compares with its clock. */
  readonly isTime: () => Promise<boolean>
  /** The last row of the query; null: it has none. */
  readonly newest: () => Promise<Bound | null>
  readonly rows: (bounds: Pick<KeysetQuery, 'after' | 'upTo' | 'lagSeconds' | 'limit'>) => Promise<KeysetPage>
}

export type ReadDatabase = <T>(
  at: {
    readonly reach: OutboundReach
    readonly place: DatabasePlace
    readonly of: Pick<KeysetQuery, 'query' | 'cursorColumn' | 'keyColumn'>
    /** The most bytes of all rows, and of one row. */
    readonly bytesMax: number
    readonly rowBytesMax: number
    readonly signal: AbortSignal
  },
  work: (reader: DatabaseReader) => Promise<T>,
) => Promise<T>

/** A failure that the owner of the source can repair. The sentence contains no credential. */
export class SourceFailure extends Error {
  readonly reason: string
  /** How long the other system wants to be left alone. */
  readonly waitMs: number

  constructor(...[reason, message, waitMs = 0]: readonly [string, string, (number | undefined)?]) {
    super(message)
    this.waitMs = waitMs
    this.name = 'SourceFailure'
    this.reason = reason
  }
}
