import { decodeCursor, encodeCursor } from '../domain/serving/cursor.ts'
import { refuse } from '../domain/refusal.ts'

/** The id that a cursor stands for; null at the first page. */
export function afterCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const id = decodeCursor(cursor)
  if (id === undefined)
    throw refuse('invalid_request', 'The cursor is not one of ours; use next_cursor of the page before, as it is.')
  return id
}

/** `rows` were asked for one beyond the limit: whether there is more, without a second question. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly rows: readonly Row[]; readonly next_cursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(last.id) : null }
}
