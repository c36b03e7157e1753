import { sql, type Database, type Db, type Sql } from '../../src/platform/db.ts'
import { statement } from './fixtures.ts'
import { eventually } from './harness.ts'

/**
 * A gate is a lock that a test has in its own transaction, and at which statements of the server wait. The test continues
 * once PostgreSQL reports that they wait, so the order of the two transactions is never left to luck.
 */
export type Gate = {
  /** The transaction of the test. Nobody passes the gate before it ends. */
  readonly tx: Db
  /** Resolves once this many connections wait at the gate, directly or behind another one. */
  waiting(count?: number): Promise<void>
  /** The number of connections that wait at the moment. */
  count(): Promise<number>
  /** Cancels the statements that wait, as their timeout would, once there is one. */
  cancel(): Promise<void>
  /** Cancels the statements that wait at the moment. Returns whether there was one. */
  cancelPresent(): Promise<boolean>
}

/** `what` names the gate in failures. */
type Lock = { readonly what: string; readonly take: (tx: Db) => Promise<unknown> }

export const tableGate = (table: string): Lock => ({
  what: `the table ${table}`,
  take: (tx) => statement(tx, `lock table ${table} in access exclusive mode`),
})

/** The days of a table and not the table itself: a statement gets as far as its first row of a day. */
export const daysGate = (table: string): Lock => ({
  what: `the days of ${table}`,
  take: (tx) =>
    statement(
      tx,
      `do $$ declare day regclass; begin
      for day in select inhrelid from pg_inherits where inhparent = '${table}'::regclass loop
        execute 'lock table ' || day || ' in access exclusive mode';
      end loop; end $$`,
    ),
})

/** The rows that this statement changes or locks. */
export const rowsGate = (what: string, locking: Sql): Lock => ({ what, take: (tx) => tx.run(locking) })

/** Does `work` while the gate is closed. It opens afterward, so `work` returns what waits in an array. */
export function atGate<T>(database: Database, { what, take }: Lock, work: (gate: Gate) => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await take(tx)
    return work(gateOf(tx, what))
  })
}

/** The locks that this transaction already has, as a gate. */
export function gateOf(tx: Db, what: string): Gate {
  const cancelPresent = async (): Promise<boolean> => {
    const pids = await waitersOf(tx)
    for (const pid of pids) await tx.run(sql`select pg_cancel_backend(${pid}::int)`)
    return pids.length > 0
  }
  return {
    tx,
    waiting: async (count = 1) => {
      await eventually(`${count} statements wait for ${what}`, async () =>
        (await waitersOf(tx)).length >= count ? true : undefined,
      )
    },
    count: async () => (await waitersOf(tx)).length,
    cancel: async () => {
      await eventually(`a statement waits for ${what}`, async () => (await cancelPresent()) || undefined)
    },
    cancelPresent,
  }
}

/** pg_stat_activity would show a transaction the same rows until its end; pg_locks shows the present ones. */
async function waitersOf(tx: Db): Promise<readonly number[]> {
  const rows = await tx.many<{ pid: number }>(sql`
    with recursive waits as (
      select distinct pid, pg_blocking_pids(pid) as blockers
        from pg_locks
       where not granted
    ), reached (pid) as (
      select pg_backend_pid()
       union
      select waits.pid
        from waits
        join reached on reached.pid = any (waits.blockers)
    )
    select pid from reached where pid <> pg_backend_pid()
  `)
  return rows.map(({ pid }) => pid)
}
