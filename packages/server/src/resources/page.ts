import { decodeCursor, encodeCursor } from '../domain/serving/cursor.ts'
import { refuse } from '../domain/refusal.ts'
import type { Db, Sql } from '../platform/db.ts'
import { firstRows } from '../platform/first-rows.ts'

const ROWS_AT_ONCE = 200

/** The id in a cursor; null for the first page. */
export function afterCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const id = decodeCursor(cursor)
  if (id === undefined)
    throw refuse('invalid_request', 'The cursor is not valid; send next_cursor of the previous page unchanged.')
  return id
}

/** `rows` contains up to one row beyond the limit, which shows without a second query whether there are more. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly rows: readonly Row[]; readonly next_cursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null }
}

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
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement, without the count
      return rows.map(({ page_found: _found, ...row }) => row as unknown as Row)
    },
  }
  const rows = (await list(within, limit + 1)).slice(0, limit)
  const last = rows.at(-1)
  return { rows, next_cursor: found > rows.length && last !== undefined ? encodeCursor(last.id) : null }
}

/** All rows of a list, in pages that occupy the loop only for a moment each. */
export async function readAll<Found extends { readonly id: string }>(
  db: Db,
  list: (db: Db, page: { readonly after: string | null; readonly limit: number }) => Promise<readonly Found[]>,
): Promise<readonly Found[]> {
  const all: Found[] = []
  for (let after: string | null = null; ;) {
    // oxlint-disable-next-line no-await-in-loop -- each page needs the end of the previous one
    const { rows, next_cursor }: Awaited<ReturnType<typeof readPage<Found>>> = await readPage(db, {
      limit: ROWS_AT_ONCE,
      list: (within, limit) => list(within, { after, limit }),
    })
    all.push(...rows)
    if (next_cursor === null) return all
    after = rows.at(-1)?.id ?? null
  }
}
