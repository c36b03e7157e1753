import { decodeCursor, encodeCursor } from '../domain/serving/cursor.ts'
import { LIMITS } from '@postroad/contract'
import { refuse } from '../domain/refusal.ts'
import { sql, type Db } from '../platform/db.ts'

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

type Row = { readonly id: string }
type Page<Found> = { readonly rows: readonly Found[]; readonly next_cursor: string | null }
type Listing<Found> = {
  readonly limit: number
  /** Reads up to one row beyond the limit, as `pageOf` needs them. */
  readonly list: (db: Db, limit: number) => Promise<readonly Found[]>
}

/**
 * A page of rows that can be large. It ends with the row that exceeds `listBytesMax`, and has at least one, so that no page occupies
 * the loop or the memory for long (docs/adr/0391).
 */
export async function readPage<Found extends Row>(db: Db, { limit, list }: Listing<Found>): Promise<Page<Found>> {
  const sized = new Map<string, number>()
  const within: Db = {
    ...db,
    many: async <Read extends object>({ strings, values }: Parameters<Db['many']>[0]) => {
      const rows = await db.many<Read & Found & { readonly page_found: number }>(sql`
        select ${ALL_OF}
          from (
                 select page.${ALL_OF}, (count(*) over ())::int as page_found,
                        sum(octet_length(page::text)) over (rows between unbounded preceding and 1 preceding) as page_before
                   from (${{ strings, values }}) page
               ) sized
         where coalesce(page_before, 0) < ${LIMITS.listBytesMax}
      `)
      for (const { id, page_found: found } of rows) sized.set(id, found)
      return rows
    },
  }
  const rows = await list(within, limit + 1)
  const found = sized.get(rows[0]?.id ?? '') ?? rows.length
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, next_cursor: found > page.length && last !== undefined ? encodeCursor(last.id) : null }
}
