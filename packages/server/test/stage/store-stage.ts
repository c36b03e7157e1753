import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import type { Held, StorePort, TurnInput } from '../../src/pipeline/deliver/ports.ts'
import { createPostgresStore } from '../../src/pipeline/deliver/postgres-store.ts'
import { sql, type Database, type Db } from '../../src/platform/db.ts'
import { aWorld, eventually, type World } from './harness.ts'
import { anyDue, StoreRows, valueOf, type LaneAt } from './store-rows.ts'

type Open = { readonly database: Database; readonly store: StorePort; commit(): Promise<void> }

/** The start of the delivery store tests: lanes with an owner, and transactions that stay open. */
export class StoreStage {
  readonly #rows: StoreRows

  constructor(rows: StoreRows) {
    this.#rows = rows
  }

  /** A store whose operations all run inside one transaction, which stays open until `commit`. */
  async openTransaction(): Promise<Open> {
    const inside = Promise.withResolvers<Db>()
    const gate = Promise.withResolvers<undefined>()
    const ended = this.#rows.deps.database.transaction(async (db) => {
      inside.resolve(db)
      await gate.promise
    })
    const db = await inside.promise
    const database: Database = { ...this.#rows.deps.database, ...db, transaction: (work) => work(db) }
    return {
      database,
      store: createPostgresStore({ ...this.#rows.deps, database }),
      commit: async () => {
        gate.resolve(undefined)
        await ended
      },
    }
  }

  /** Waits until this many statements in the database wait for locks of others. */
  async untilBlocked(least = 1): Promise<void> {
    await eventually(`${least} statements wait for locks`, async () => {
      const { waiting } = await this.#rows.deps.database.one<{ waiting: number }>(sql`
        select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      `)
      return waiting >= least ? true : undefined
    })
  }

  /** A lane that owner `a` has leased, with deliveries that are due. */
  async aLeasedLane(count = 1): Promise<{ at: LaneAt; held: Held; ids: readonly string[]; store: StorePort }> {
    const at = await this.#rows.aLane()
    const ids = (await this.#rows.ingest(at, { count })).map((item) => item.delivery_id)
    const store = createPostgresStore(this.#rows.deps)
    const { grants } = valueOf(await store.lease(anyDue('a')))
    assert.equal(grants.length, 1)
    return { at, held: { lane: at.lane, fence: grants[0]?.fence ?? 0 }, ids, store }
  }
}

type Made = { readonly rows: StoreRows; readonly stage: StoreStage }

/**
 * The stage that all tests of a file share; each test begins without rows. No loop of this process sends: the tests are
 * the delivery machines.
 */
export function onStoreStage(prepare: (made: Made) => void): void {
  const made: { world?: World; rows?: StoreRows } = {}
  before(async () => {
    made.world = await aWorld({ env: { ROLES: 'web' }, loops: [] })
    const rows = new StoreRows(made.world)
    await rows.makeDays()
    made.rows = rows
    prepare({ rows, stage: new StoreStage(rows) })
  })
  beforeEach(() => made.rows?.clear())
  after(() => made.world?.stop())
}

export const beginsOf = (held: Held, ids: readonly string[]): TurnInput => ({
  settles: [],
  begins: ids.map((delivery_id) => ({ ...held, delivery_id })),
})
