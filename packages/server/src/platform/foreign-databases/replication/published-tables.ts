import type pg from 'pg'
import { ForeignFailure } from '../../foreign-failure.ts'
import { publicationName, type PublicationAsked, type TableName } from './publication.ts'
import { identifier, literal } from '../quoted.ts'

/** A column of the key that orders the copied rows. `collate` is empty for the default order. */
export type KeyColumn = { readonly name: string; readonly type: string; readonly collate: string }

/** A table of a publication. The copy reads the published columns, and only rows that match the row filter. */
export type PublishedTable = TableName & {
  readonly columns: readonly { readonly name: string; readonly typeOid: number }[]
  readonly key: readonly KeyColumn[]
  readonly isPartitioned: boolean
  readonly filter: string | null
}

export const tableText = ({ schema, table }: TableName): string => `${schema}.${table}`

/** The same order for every process. */
// oxlint-disable-next-line max-params -- a comparison
export const byTable = (a: TableName, b: TableName): number =>
  tableText(a) < tableText(b) ? -1 : Number(tableText(a) > tableText(b))

/** The tables of a publication, in the order in which their rows are copied. */
export async function publishedTables(client: pg.Client, asked: PublicationAsked): Promise<readonly PublishedTable[]> {
  // Releases differ in the columns of these views, and JSON leaves out those that a release does not have.
  const { rows } = await client.query<{ readonly found: string }>(
    describe(`
      select c.oid, c.relkind, c.relreplident, n.nspname, c.relname, to_jsonb(p) -> 'attnames' as attnames,
             to_jsonb(p) ->> 'rowfilter' as filter
        from pg_publication_tables p
        join pg_namespace n on n.nspname = p.schemaname
        join pg_class c on c.relnamespace = n.oid and c.relname = p.tablename
       where p.pubname = ${literal(publicationName(asked))}`),
  )
  return found(rows)
}

/** Like `publishedTables`, for a publication that does not exist yet. */
export async function tablesToPublish(client: pg.Client, asked: PublicationAsked): Promise<readonly PublishedTable[]> {
  if (!('own' in asked)) return publishedTables(client, asked)
  const names = asked.tables.map(({ schema, table }) => `(${literal(schema)}, ${literal(table)})`).join(', ')
  const { rows } = await client.query<{ readonly found: string }>(
    describe(`
      select c.oid, c.relkind, c.relreplident, n.nspname, c.relname, null::jsonb as attnames, null as filter
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
       where (n.nspname, c.relname) in (${names})`),
  )
  return found(rows)
}

/** A table needs a key, because the copy continues after the last key. */
export function checkKeys(tables: readonly PublishedTable[]): void {
  const without = tables.find(({ key }) => key.length === 0)
  if (without === undefined) return
  throw new ForeignFailure(
    'no_key',
    `The table ${tableText(without)} has no primary key, by which a snapshot continues after an interruption. Add a primary key, or set snapshot to false.`,
  )
}

const describe = (tables: string): string => `
  select json_build_object(
           'schema', t.nspname, 'table', t.relname, 'isPartitioned', t.relkind = 'p', 'filter', t.filter,
           'columns', (
             select coalesce(json_agg(json_build_object('name', a.attname, 'typeOid', a.atttypid::bigint) order by a.attnum), '[]')
               from pg_attribute a
              where a.attrelid = t.oid
                and a.attnum > 0
                and not a.attisdropped
                and (t.attnames is null or t.attnames ? a.attname)
                and (coalesce(to_jsonb(a) ->> 'attgenerated', '') = '' or current_setting('server_version_num')::int >= 180000 and t.attnames is not null)
           ),
           'key', (
             select coalesce(json_agg(json_build_object(
                      'name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
                      'collate', case when l.collname is null or l.collname = 'default' then ''
                                      else quote_ident(ln.nspname) || '.' || quote_ident(l.collname) end
                    ) order by k.place), '[]')
               from pg_index i
              cross join unnest(i.indkey::int2[]) with ordinality k (attnum, place)
               join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
               left join pg_collation l on l.oid = a.attcollation
               left join pg_namespace ln on ln.oid = l.collnamespace
              where i.indrelid = t.oid
                and case when t.relreplident = 'i' then i.indisreplident else i.indisprimary end
                and k.place <= i.indnkeyatts
           )
         ) as found
    from (${tables}) t`

const found = (rows: readonly { readonly found: string }[]): readonly PublishedTable[] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built by this file
  rows.map((row) => JSON.parse(row.found) as PublishedTable).toSorted(byTable)

export const fromTable = ({ schema, table, isPartitioned }: PublishedTable): string =>
  `${isPartitioned ? '' : 'only '}${identifier(schema)}.${identifier(table)}`
