import { sql, type Sql } from './db.ts'

/**
 * A column with JSON as the operators of PostgreSQL can read it. They refuse a document with the escape of U+0000 or of half a
 * surrogate pair anywhere, so these become U+FFFD.
 */
export function readable(column: Sql): Sql {
  return sql`regexp_replace(${column}::text, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')::json`
}
