import { decodeCursor, encodeCursor } from '../domain/serving/cursor.ts'
import { refuse } from '../domain/refusal.ts'

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
