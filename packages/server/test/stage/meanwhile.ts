import { decodeId } from '@postroad/contract'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { post, statement } from './fixtures.ts'
import { aWorld, eventually, type Answer, type World } from './harness.ts'

/** Runs work while a fault is present, and removes the fault afterwards. */
export class Meanwhile {
  readonly #world: World
  readonly #database: Database

  constructor(world: World, database: Database) {
    this.#world = world
    this.#database = database
  }

  /** Makes a change in the database for the time of the work. */
  async changed<T>(change: string, back: string, work: () => Promise<T>): Promise<T> {
    const tell = (): void =>
      this.#world.app.deps.configChanged(decodeId('project', this.#world.installed.project.id) ?? '')
    await statement(this.#database, change)
    tell()
    try {
      return await work()
    } finally {
      await statement(this.#database, back)
      tell()
    }
  }

  suspended<T>(work: () => Promise<T>): Promise<T> {
    return this.changed('update workspaces set suspended_at = now()', 'update workspaces set suspended_at = null', work)
  }

  closed<T>(work: () => Promise<T>): Promise<T> {
    return this.changed('update workspaces set closed_at = now()', 'update workspaces set closed_at = null', work)
  }

  onTheFreePlan<T>(work: () => Promise<T>): Promise<T> {
    return this.changed("update workspaces set plan = 'free'", "update workspaces set plan = 'self_hosted'", work)
  }

  /** On a plan that admits a hundred requests at once, while the clock does not move. */
  afterABurst<T>(url: string, work: () => Promise<T>): Promise<T> {
    return this.onTheFreePlan(async () => {
      for (let sent = 0; sent < 100; sent += 1) await post(url, '{}')
      return work()
    })
  }

  /** On a plan whose monthly quota is used up. */
  withoutQuota<T>(work: () => Promise<T>): Promise<T> {
    const month = `${new Date(this.#world.clock.now()).toISOString().slice(0, 7)}-01`
    const used = `update workspaces set plan = 'free';
      insert into monthly_usage (workspace_id, month, events, deliveries) select id, '${month}', 10000, 50000 from workspaces
      on conflict (workspace_id, month) do update set events = excluded.events, deliveries = excluded.deliveries`
    return this.changed(
      `do $$ begin ${used}; end $$`,
      "do $$ begin update workspaces set plan = 'self_hosted'; delete from monthly_usage; end $$",
      work,
    )
  }

  /** Every statement that reads the rules fails. */
  withoutRules<T>(work: () => Promise<T>): Promise<T> {
    return this.changed('alter table rules rename to rules_gone', 'alter table rules_gone rename to rules', work)
  }

  /** The statement that stores the events waits for a lock. Then this cancels it, as its timeout would. */
  async locked(work: () => Promise<Answer>): Promise<Answer> {
    return this.#database.transaction(async (tx) => {
      await statement(tx, 'lock table submissions in access exclusive mode')
      const answer = work()
      const cancel =
        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      await eventually(async () =>
        (await this.#database.run({ strings: [cancel], values: [] })) > 0 ? true : undefined,
      )
      return answer
    })
  }
}

/** The statements of the work that need the table wait for it and are canceled, as their timeout would cancel them. */
export function whileLocked<T>(database: Database, table: string, work: () => Promise<T>): Promise<T> {
  return database.transaction(async (tx) => {
    await statement(tx, `lock table ${table} in access exclusive mode`)
    let over = false
    const done = work().finally(() => (over = true))
    void done.catch(() => undefined)
    const cancel =
      "select pg_cancel_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    await eventually(async () => {
      await statement(database, cancel)
      return over ? true : undefined
    })
    return done
  })
}

/** A node whose database is dropped while it serves. */
export async function atANodeWithoutDatabase(work: (lost: World) => Promise<Answer>): Promise<Answer> {
  const lost = await aWorld({ env: { LOG_LEVEL: 'silent' } })
  try {
    await lost.storage.stop()
    return await work(lost)
  } finally {
    await lost.stop()
  }
}

/** Moves the clocks of nodes while work is under way that waits for them. */
export async function whileTimePasses<T>(nodes: readonly World[], work: Promise<T>): Promise<T> {
  const done = work.finally(() => (over = true))
  let over = false
  await eventually(async () => {
    for (const { clock } of nodes) clock.advance(5)
    return over ? true : undefined
  }, 10_000)
  return done
}

/**
 * Locks the days of a table until the transaction ends, and not the table itself: a statement gets as far as its first
 * row of a day.
 */
export function lockDays(tx: Db, table: string): Promise<unknown> {
  return statement(
    tx,
    `do $$ declare day regclass; begin
    for day in select inhrelid from pg_inherits where inhparent = '${table}'::regclass loop
      execute 'lock table ' || day || ' in access exclusive mode';
    end loop; end $$`,
  )
}

/**
 * The number of idempotency keys that are locked by a transaction which waits for a table; the loops of a server take
 * such locks too, and wait for no table.
 */
export async function keysLockedByWaiting(database: Database): Promise<number> {
  const { held } = await database.one<{ held: number }>(sql`
    select count(*) as held
    from pg_locks as key
    join pg_locks as waited using (pid)
    where key.locktype = 'advisory' and key.granted and waited.locktype = 'relation' and not waited.granted
      and key.database = (select oid from pg_database where datname = current_database())
  `)
  return held
}
