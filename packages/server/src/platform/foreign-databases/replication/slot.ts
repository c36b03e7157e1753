import type pg from 'pg'
import { ForeignFailure } from '../../foreign-failure.ts'
import { lsnOf } from './lsn.ts'
import { literal } from '../quoted.ts'

/** A replication slot, as PostgreSQL describes it. */
export type SlotFound = {
  readonly plugin: string | null
  readonly database: string | null
  readonly active_pid: number | null
  readonly confirmed_flush_lsn: string | null
  readonly wal_status: string | null
  /** The WAL after the confirmed position, and all that the slot retains. */
  readonly lag_bytes: number | null
  readonly retained_bytes: number | null
}

/** The slot of this name; undefined: there is none. Columns that a release does not have are null. */
export async function findSlot(client: pg.Client, name: string): Promise<SlotFound | undefined> {
  const { rows } = await client.query<{
    readonly slot: string
    readonly lag: string | null
    readonly retained: string | null
  }>(`
    with now as (
           select case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end as lsn
         )
    select to_json(s) as slot, greatest(0, now.lsn - s.confirmed_flush_lsn) as lag, greatest(0, now.lsn - s.restart_lsn) as retained
      from pg_replication_slots s, now
     where s.slot_name = ${literal(name)}`)
  const [row] = rows
  if (row === undefined) return undefined
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns of a view of PostgreSQL
  const slot = JSON.parse(row.slot) as Omit<SlotFound, 'lag_bytes' | 'retained_bytes'>
  return { ...slot, lag_bytes: numberOf(row.lag), retained_bytes: numberOf(row.retained) }
}

const numberOf = (text: string | null): number | null => (text === null ? null : Number(text))

/** The identity of the PostgreSQL installation: a position is valid only there. Needs a replication connection. */
export async function systemOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ readonly systemid: string }>('IDENTIFY_SYSTEM')
  return rows[0]?.systemid ?? ''
}

export async function checkWalLevel(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ readonly level: string }>("select current_setting('wal_level') as level")
  const level = rows[0]?.level ?? ''
  if (level !== 'logical')
    throw new ForeignFailure(
      'wal_level',
      `The database has wal_level = ${level}, so its WAL has no logical changes. Set wal_level = logical and restart the database (a managed database has a parameter for this, such as rds.logical_replication).`,
    )
}

/** Creates a slot when the open transactions have ended. The result is the position that the slot reads from. */
export async function createSlot(client: pg.Client, name: string): Promise<bigint> {
  const { rows } = await client.query<{ readonly lsn: string }>(
    `select lsn from pg_create_logical_replication_slot(${literal(name)}, 'pgoutput')`,
  )
  return lsnOf(rows[0]?.lsn ?? '0/0')
}

/** Drops a slot, if it exists. It ends a connection that uses the slot, if the user may do so. */
export async function dropSlot(client: pg.Client, name: string): Promise<void> {
  const of = `from pg_replication_slots where slot_name = ${literal(name)}`
  await client.query(`select pg_terminate_backend(active_pid) ${of} and active_pid is not null`)
  for (let tries = 0; ; tries += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- until the ended connection has let it go
      await client.query(`select pg_drop_replication_slot(slot_name) ${of}`)
      return
    } catch (error) {
      if (tries >= DROP_TRIES || !isBusy(error)) throw error
      // oxlint-disable-next-line no-await-in-loop -- until the ended connection has let it go
      await client.query('select pg_sleep(0.1)')
    }
  }
}

const DROP_TRIES = 30
const isBusy = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '55006'

/** Refuses a slot that cannot be read. */
export function checkSlot(of: { readonly slot: string; readonly database: string }, found: SlotFound): void {
  const { plugin, wal_status, database } = found
  const name = of.slot
  if (plugin !== 'pgoutput')
    throw new ForeignFailure(
      'wrong_slot',
      `The replication slot ${name} has the plugin ${plugin ?? 'none'}, and Postroad reads pgoutput. Create it with pg_create_logical_replication_slot('${name}', 'pgoutput').`,
    )
  if (database !== of.database)
    throw new ForeignFailure(
      'wrong_slot',
      `The replication slot ${name} belongs to the database ${database ?? 'of no name'}, not to ${of.database}. Name another slot, or correct the connection string.`,
    )
  if (wal_status === 'lost')
    throw new ForeignFailure(
      'slot_lost',
      `PostgreSQL has invalidated the replication slot ${name}, because it retained more WAL than max_slot_wal_keep_size allows. Changes after the position are lost here. Copy what you need from the tables, then send restart: true.`,
    )
}
