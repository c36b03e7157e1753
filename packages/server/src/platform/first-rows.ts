import { sql, type Db, type Sql } from './db.ts'

/** How many rows the statement found, in each of those that are read. */
export type Sized = { readonly page_found: number }

/**
 * The first rows of a statement up to the one that exceeds a size. Its columns are those of the statement, which this one cannot
 * name.
 */
export function firstRows<Row extends object>(
  db: Db,
  { query, bytesMax }: { readonly query: Sql; readonly bytesMax: number },
): Promise<readonly (Row & Sized)[]> {
  return db.many<Row & Sized>(sql`
    select (page).*, page_found
      from (
             select page, (count(*) over ())::int as page_found,
                    sum(octet_length(page::text)) over (rows between unbounded preceding and 1 preceding) as bytes_before
               from (${query}) page
           ) sized
     where coalesce(bytes_before, 0) < ${bytesMax}
  `)
}
