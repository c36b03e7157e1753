import { setTimeout as sleep } from 'node:timers/promises'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { post, statement } from './fixtures.ts'
import { atGate, tableGate } from './gates.ts'
import { aWorld, type Answer, type World } from './harness.ts'

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

  /** On a plan with a limit of work, after earlier requests with the URL needed more. */
  owingWork<T>(url: string, work: () => Promise<T>): Promise<T> {
    return this.onTheFreePlan(async () => {
      await post(url, '{}')
      const { webhooks } = (await this.#world.admin('GET', 'webhooks?limit=200')).body
      const { id } = webhooks.find(({ public_url }: { public_url: string }) => public_url === url)
      this.#world.app.deps.work.charge(decodeId('webhook', id) ?? '', 20_000)
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
    return atGate(this.#database, tableGate('submissions'), async (gate) => {
      const answer = work()
      await gate.cancel()
      return answer
    })
  }
}

/** The statements of the work that need the table wait for it and are canceled, as their timeout would cancel them. */
export function whileLocked<T>(database: Database, table: string, work: () => Promise<T>): Promise<T> {
  return atGate(database, tableGate(table), async (gate) => {
    let over = false
    const done = work().finally(() => (over = true))
    void done.catch(() => undefined)
    // The work may have several statements. After the last one, nothing waits any more.
    // oxlint-disable-next-line typescript/no-unnecessary-condition, no-unmodified-loop-condition -- the work sets it
    while (!over) {
      await gate.cancelPresent()
      await sleep(5)
    }
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

/** Moves the clocks of nodes while work is under way that waits for them, `ms` at a time. */
export async function whileTimePasses<T>(nodes: readonly World[], work: Promise<T>, ms = 5): Promise<T> {
  let over = false
  const done = work.finally(() => (over = true))
  void done.catch(() => undefined)
  // oxlint-disable-next-line typescript/no-unnecessary-condition, no-unmodified-loop-condition -- the work sets it
  while (!over) {
    for (const { clock } of nodes) clock.advance(ms)
    await sleep(5)
  }
  return done
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
