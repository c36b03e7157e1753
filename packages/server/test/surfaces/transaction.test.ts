import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Ctx } from '../../src/context.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { inTransaction } from '../../src/transaction.ts'
import { aPlace } from '../stage/audit-chains.ts'
import { statement } from '../stage/fixtures.ts'
import { gateOf } from '../stage/gates.ts'
import { onWorldStage } from '../stage/world-stage.ts'

let database: Database
let ctx: Ctx

onWorldStage(
  async (made) => {
    ;({ database } = made)
    ctx = { ...aPlace(made.world), database }
    await statement(database, 'create table places as select generate_series(1, 2) as id')
  },
  { loops: [] },
)

test('a verb that PostgreSQL ends because of a deadlock runs again; the effects that it registered run once', async () => {
  const held = Promise.withResolvers<void>()
  const other = database.transaction(async (db) => {
    // PostgreSQL ends the transaction that waits longer than this in a deadlock, and here it must end the verb.
    await db.run(sql`set local deadlock_timeout = '1min'`)
    await db.run(sql`select from places where id = 1 for update`)
    await held.promise
    await db.run(sql`select from places where id = 2 for update`)
  })
  let [runs, committed] = [0, 0]
  await inTransaction(ctx, async ({ db, afterCommit }) => {
    runs += 1
    afterCommit(() => void (committed += 1))
    // The second run could lock a row before the other transaction wakes up, and end in a second deadlock.
    if (runs > 1) await other
    await db.run(sql`set local deadlock_timeout = '10ms'`)
    await db.run(sql`select from places where id = 2 for update`)
    held.resolve()
    if (runs === 1) await gateOf(db, 'the second place').waiting()
    await db.run(sql`select from places where id = 1 for update`)
  })
  await other
  assert.deepEqual([runs, committed], [2, 1])
})

test('a verb that loses a name to another one runs again, and finds the name', async () => {
  await statement(database, 'create table names (name text unique)')
  const taken = Promise.withResolvers<void>()
  const other = database.transaction(async (db) => {
    await db.run(sql`insert into names values ('orders')`)
    taken.resolve()
    await gateOf(db, 'the name').waiting()
  })
  await taken.promise
  let runs = 0
  const found = await inTransaction(ctx, async ({ db }) => {
    runs += 1
    const name = await db.maybe<{ name: string }>(sql`select name from names where name = 'orders'`)
    if (name === undefined) await db.run(sql`insert into names values ('orders')`)
    return name
  })
  await other
  assert.deepEqual([found, runs], [{ name: 'orders' }, 2])
})
