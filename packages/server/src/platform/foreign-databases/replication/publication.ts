import type pg from 'pg'
import type { ChangeOperation } from '@postroad/contract'
import { ForeignFailure } from '../../foreign-failure.ts'
import { identifier, literal } from '../quoted.ts'

/** The name of a table; `schema` and `table` are exactly as in the catalog. */
export type TableName = { readonly schema: string; readonly table: string }

/** A publication that Postroad makes, or one that exists. */
export type PublicationAsked =
  | { readonly existing: string }
  | {
      readonly own: string
      readonly tables: readonly TableName[]
      readonly operations: readonly ChangeOperation[]
    }

export const publicationName = (asked: PublicationAsked): string => ('own' in asked ? asked.own : asked.existing)

/** Checks that the publication can be used or made, and changes nothing. */
export async function checkPublication(client: pg.Client, asked: PublicationAsked): Promise<void> {
  if ('own' in asked) {
    checkTables(asked, await tablesOf(client, asked.tables))
    return
  }
  const { rows } = await client.query(`select from pg_publication where pubname = ${literal(asked.existing)}`)
  if (rows.length === 0)
    throw new ForeignFailure(
      'no_publication',
      `The publication "${asked.existing}" does not exist in this database. Create it (create publication ${asked.existing} for table …), or set tables instead.`,
    )
}

/** Makes the publication of a source, or changes it to its current tables and operations. */
export async function ensurePublication(client: pg.Client, asked: PublicationAsked): Promise<void> {
  await checkPublication(client, asked)
  if (!('own' in asked)) return
  const name = identifier(asked.own)
  const wanted = stateOf(asked)
  const held = await heldState(client, asked.own)
  if (held === wanted) return
  const tables = asked.tables.map(({ schema, table }) => `${identifier(schema)}.${identifier(table)}`).join(', ')
  const options = `publish = ${literal(asked.operations.join(', '))}, publish_via_partition_root = true`
  if (held === undefined) {
    await client.query(`create publication ${name} for table ${tables} with (${options})`)
    return
  }
  await client.query(`alter publication ${name} set table ${tables}`)
  await client.query(`alter publication ${name} set (${options})`)
}

export async function dropPublication(client: pg.Client, name: string): Promise<void> {
  await client.query(`drop publication if exists ${identifier(name)}`)
}

type Own = Extract<PublicationAsked, { own: string }>
const OPERATIONS: readonly ChangeOperation[] = ['insert', 'update', 'delete', 'truncate']

const stateOf = ({ tables, operations }: Own): string =>
  JSON.stringify([
    tables.map(({ schema, table }) => `${schema}.${table}`).toSorted(),
    OPERATIONS.filter((one) => operations.includes(one)),
  ])

async function heldState(client: pg.Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<Record<ChangeOperation | 'tables', string>>(`
    select p.pubinsert as insert, p.pubupdate as update, p.pubdelete as delete, p.pubtruncate as truncate,
           (select json_agg(json_build_object('schema', n.nspname, 'table', c.relname))
              from pg_publication_rel r
              join pg_class c on c.oid = r.prrelid
              join pg_namespace n on n.oid = c.relnamespace
             where r.prpubid = p.oid) as tables
      from pg_publication p
     where p.pubname = ${literal(name)}`)
  const [row] = rows
  if (row === undefined) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built by this statement
  const tables = JSON.parse(row['tables'] ?? '[]') as readonly TableName[]
  return stateOf({ own: name, tables, operations: OPERATIONS.filter((one) => row[one] === 't') })
}

type Found = TableName & { readonly kind: string; readonly identity: string; readonly has_key: string }

async function tablesOf(client: pg.Client, tables: readonly TableName[]): Promise<readonly Found[]> {
  const names = tables.map(({ schema, table }) => `(${literal(schema)}, ${literal(table)})`).join(', ')
  const { rows } = await client.query<Found>(`
    select n.nspname as schema, c.relname as table, c.relkind as kind, c.relreplident as identity,
           exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary) as has_key
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where (n.nspname, c.relname) in (${names})`)
  return rows
}

function checkTables({ tables, operations }: Own, found: readonly Found[]): void {
  for (const { schema, table } of tables) {
    const one = found.find((row) => row.schema === schema && row.table === table)
    const name = `${schema}.${table}`
    if (one === undefined)
      throw new ForeignFailure(
        'no_table',
        `The table ${name} does not exist in this database. Write its name as the catalog has it, such as public.orders.`,
      )
    if (one.kind !== 'r' && one.kind !== 'p')
      throw new ForeignFailure('no_table', `${name} is not a table. PostgreSQL replicates the changes of tables only.`)
    const isKnown = one.identity === 'f' || one.identity === 'i' || (one.identity === 'd' && one.has_key === 't')
    if (!isKnown && (operations.includes('update') || operations.includes('delete')))
      throw new ForeignFailure(
        'no_replica_identity',
        `The table ${name} has no primary key and no replica identity, so PostgreSQL would refuse every update and delete of the application once these are published. Add a primary key, run "alter table ${name} replica identity full", or set operations to ["insert"].`,
      )
  }
}
