import { sql, type Db, type Sql } from './db.ts'

type Sized = { readonly page_found: number }

/**
 * The first rows of a statement up to the one that exceeds a size, and how many it found. Its columns are those of the statement, which this one cannot
 * name.
 */
export async function firstRows<Row extends object>(
  db: Db,
  { query, bytesMax }: { readonly query: Sql; readonly bytesMax: number },
): Promise<{ readonly rows: readonly Row[]; readonly found: number }> {
  const sized = await db.many<Row & Sized>(sql`
    select (page).*, page_found
      from (
             select page, (count(*) over ())::int as page_found,
                    sum(octet_length(page::text)) over (rows between unbounded preceding and 1 preceding) as bytes_before
               from (${query}) page
           ) sized
     where coalesce(bytes_before, 0) < ${bytesMax}
  `)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of the statement, without the count
  const rows = sized.map(({ page_found: _found, ...row }) => row as unknown as Row)
  return { rows, found: sized[0]?.page_found ?? 0 }
}
