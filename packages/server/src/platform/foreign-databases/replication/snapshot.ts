import type pg from 'pg'
import { LIMITS } from '@postroad/contract'
import type { OutboundReach } from '../../outbound-reach.ts'
import { connectPostgres, withPostgres } from '../postgres-client.ts'
import type { DatabasePlace } from '../types.ts'
import { ForeignFailure } from '../../foreign-failure.ts'
import { replicationFailure } from './failure.ts'
import { lsnOf } from './lsn.ts'
import type { PublicationAsked } from './publication.ts'
import {
  checkKeys,
  fromTable,
  publishedTables,
  tableText,
  type KeyColumn,
  type PublishedTable,
} from './published-tables.ts'
import { SESSION } from './session.ts'
import { identifier, literal } from '../quoted.ts'

/** The values of the key of a row, as PostgreSQL writes them. */
export type Key = readonly string[]

/** A row of a snapshot. `values` null: it is too large to be stored. */
export type CopiedRow = { readonly values: Readonly<Record<string, string | null>> | null; readonly key: Key }

/** `more`: further rows are waiting in this table. */
export type CopiedPage = { readonly rows: readonly CopiedRow[]; readonly more: boolean }

/**
 * All rows at one position of the WAL: everything that was committed before `lsn` is in them, and nothing else. The database
 * retains the snapshot, and with it old versions of rows, until it is closed.
 */
export type Snapshot = {
  readonly lsn: bigint
  /** Microseconds since 1970. */
  readonly takenAt: bigint
  readonly tables: readonly PublishedTable[]
  /** The rows after a key, in its order. */
  page(of: { readonly table: PublishedTable; readonly after: Key | null; readonly limit: number }): Promise<CopiedPage>
  close(): void
}

type At = {
  readonly reach: OutboundReach
  readonly plan: { readonly place: DatabasePlace; readonly slot: string; readonly publication: PublicationAsked }
  readonly signal: AbortSignal
}

/** Statements that run long, or a pause between two pages, must not end the transaction. */
const PATIENCE = `
  select set_config(name, '0', false)
    from pg_settings
   where name in ('idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout')`
const SLOT_CHARS_MAX = 63

/**
 * Takes a snapshot. A temporary slot, which ends with the connection, reports its position in the WAL. PostgreSQL creates the
 * slot when the open transactions have ended.
 */
export async function openSnapshot(
  { reach, plan, signal }: At,
  { rowBytesMax }: { readonly rowBytesMax: number },
): Promise<Snapshot> {
  const { client, close } = await connectPostgres({ reach, place: plan.place, signal, replication: true }).catch(
    (error: unknown) => {
      throw replicationFailure(error)
    },
  )
  try {
    for (const statement of [
      ...SESSION,
      `set statement_timeout = ${LIMITS.sourceStatementMs}`,
      'set row_security = off',
      PATIENCE,
    ])
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await client.query(statement)
    const slot = await temporarySlot(client, plan.slot)
    await client.query('begin transaction isolation level repeatable read read only')
    const { rows } = await client.query<{ readonly consistent_point: string }>(
      `CREATE_REPLICATION_SLOT ${identifier(slot)} TEMPORARY LOGICAL pgoutput USE_SNAPSHOT`,
    )
    const taken = await client.query<{ readonly at: string }>(
      'select (extract(epoch from statement_timestamp()) * 1000000)::bigint as at',
    )
    const tables = await publishedTables(client, plan.publication)
    checkKeys(tables)
    return {
      lsn: lsnOf(rows[0]?.consistent_point ?? '0/0'),
      takenAt: BigInt(taken.rows[0]?.at ?? 0),
      tables,
      page: async (of) => {
        try {
          return await readPage(client, { ...of, rowBytesMax })
        } catch (error) {
          throw copyFailure(error, of.table)
        }
      },
      close,
    }
  } catch (error) {
    close()
    throw replicationFailure(error)
  }
}

/** A name that no other connection has. */
async function temporarySlot(client: pg.Client, slot: string): Promise<string> {
  const { rows } = await client.query<{ readonly pid: string }>('select pg_backend_pid() as pid')
  const suffix = `_copy_${rows[0]?.pid ?? ''}`
  return `${slot.slice(0, SLOT_CHARS_MAX - suffix.length)}${suffix}`
}

type PageAsked = Parameters<Snapshot['page']>[0] & { readonly rowBytesMax: number }

async function readPage(client: pg.Client, { table, after, limit, rowBytesMax }: PageAsked): Promise<CopiedPage> {
  const { columns, key, filter } = table
  const names = key.map(({ name }) => `postroad_row.${identifier(name)}`)
  const bounds = [
    ...(filter === null ? [] : [`(${filter})`]),
    ...(after === null ? [] : [`(${names.join(', ')}) > (${after.map((text) => literal(text)).join(', ')})`]),
  ]
  const page = `
    select ${columns.map(({ name }, n) => `postroad_row.${identifier(name)} as c${n}`).join(', ')},
           ${names.map((name, n) => `${name}::text as k${n}`).join(', ')},
           octet_length(postroad_row::text) as size, row_number() over (order by ${names.join(', ')}) as n
      from ${fromTable(table)} postroad_row
     ${bounds.length === 0 ? '' : `where ${bounds.join(' and ')}`}
     order by ${names.join(', ')}
     limit ${limit}`
  // The text of a row can be longer than its JSON, which is measured exactly later.
  const isTooLarge = `size > ${rowBytesMax * 2}`
  const { rows } = await client.query<(string | null)[]>({
    text: `
      select found, ${key.map((_, n) => `k${n}`).join(', ')}, ${isTooLarge},
             ${columns.map((_, n) => `case when not ${isTooLarge} then c${n} end`).join(', ')}
        from (select *, sum(size) over (order by n) as bytes, count(*) over () as found from (${page}) page) sized
       where bytes <= ${LIMITS.sourceBatchBytesMax} or n = 1
       order by n`,
    rowMode: 'array',
  })
  const found = Number(rows[0]?.[0] ?? 0)
  return {
    rows: rows.map(([, ...cells]) => {
      const values = cells.slice(key.length + 1)
      return {
        key: cells.slice(0, key.length).map(String),
        values:
          cells[key.length] === 't'
            ? null
            : Object.fromEntries(columns.map(({ name }, n) => [name, values[n] ?? null])),
      }
    }),
    more: found === limit || rows.length < found,
  }
}

function copyFailure(error: unknown, table: PublishedTable): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === '42501')
    return new ForeignFailure(
      'access_denied',
      `The user may not read every row of ${tableText(table)}. Run there: grant select on ${tableText(table)} to the user, and let it bypass row-level security, or set snapshot to false and send restart: true.`,
    )
  return replicationFailure(error)
}

/** Whether each of these keys comes after `after` in the order in which rows are copied, which only the database knows. */
export async function keysAfter(
  { reach, plan, signal }: At,
  { key, after, keys }: { readonly key: readonly KeyColumn[]; readonly after: Key; readonly keys: readonly Key[] },
): Promise<readonly boolean[]> {
  const typed = (texts: Key): string => key.map(({ type }, n) => `${literal(texts[n] ?? '')}::${type}`).join(', ')
  const values = keys.map((texts, n) => `(${n}, ${typed(texts)})`).join(', ')
  const names = key.map((_, n) => `k${n}`)
  const ordered = key.map(({ collate }, n) => `v.k${n}${collate === '' ? '' : ` collate ${collate}`}`)
  try {
    return await withPostgres({ reach, place: plan.place, signal }, async (client) => {
      const { rows } = await client.query<{ readonly n: string }>(
        `select v.n from (values ${values}) v (n, ${names.join(', ')}) where (${ordered.join(', ')}) > (${typed(after)})`,
      )
      const later = new Set(rows.map(({ n }) => Number(n)))
      return keys.map((_, n) => later.has(n))
    })
  } catch (error) {
    throw replicationFailure(error)
  }
}

/** The key columns of the tables of a publication, as they are now. */
export async function keysOfTables({ reach, plan, signal }: At): Promise<ReadonlyMap<string, readonly KeyColumn[]>> {
  try {
    return await withPostgres({ reach, place: plan.place, signal }, async (client) => {
      const tables = await publishedTables(client, plan.publication)
      return new Map(tables.map((table) => [tableText(table), table.key]))
    })
  } catch (error) {
    throw replicationFailure(error)
  }
}
