import { encodeCursor } from '../../domain/serving/cursor.ts'
import type { Db, Sql } from '../../platform/db.ts'
import { firstRows } from './queries.ts'

/** A page of rows that can be large ends with the row that exceeds this. A MiB takes the loop about 13 ms. */
const LIST_BYTES_MAX = 1_048_576

type Listing<Found> = {
  readonly limit: number
  /** Reads at most this many rows, newest first. */
  readonly list: (db: Db, limit: number) => Promise<readonly Found[]>
}

/**
 * A page of rows that can be large. It ends with the row that exceeds `LIST_BYTES_MAX`, and has at least one, so no page occupies the
 * loop and the memory for long (docs/adr/0391).
 */
export async function readPage<Found extends { readonly id: string }>(
  db: Db,
  { limit, list }: Listing<Found>,
): Promise<{ readonly rows: readonly Found[]; readonly next_cursor: string | null }> {
  let found = 0
  const within: Db = {
    ...db,
    many: async <Row extends object>(query: Sql) => {
      const rows = await firstRows<Row>(db, { query, bytesMax: LIST_BYTES_MAX })
      found = rows[0]?.page_found ?? 0
      return rows
    },
  }
  const rows = (await list(within, limit + 1)).slice(0, limit)
  const last = rows.at(-1)
  return { rows, next_cursor: found > rows.length && last !== undefined ? encodeCursor(last.id) : null }
}
