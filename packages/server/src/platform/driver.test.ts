import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aDatabase } from '../../test/harness.ts'
import { DbError, openDatabase, sql, type Database } from './db.ts'

let own: Awaited<ReturnType<typeof aDatabase>>
let pool: Database
let other: Database

before(async () => {
  own = await aDatabase()
  pool = openDatabase({ target: own.target, connectionsMax: 6, applicationName: 'pool', statementTimeoutMs: 5_000 })
  other = openDatabase({ target: own.operator, connectionsMax: 1, applicationName: 'other', statementTimeoutMs: 5_000 })
})
after(async () => {
  await pool.close()
  await other.close()
  await own.drop()
})

/** Ends the pool's connections from outside, as PostgreSQL does when it stops. */
function endConnections(): Promise<number> {
  return other.run(sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pool'`)
}

test('a transaction whose connection is lost rejects, the process lives, and the next statement is answered', async () => {
  for (let round = 0; round < 5; round += 1) {
    const lost = pool.transaction(async (tx) => {
      await tx.one(sql`select 1 as begun`)
      await endConnections()
      await tx.one(sql`select 2 as lost`)
    })
    await assert.rejects(lost, (error) => error instanceof DbError && error.outcome === 'unknown')
    assert.deepEqual(await pool.one(sql`select 3 as next`), { next: 3 })
  }
})

test('however often all connections are lost under load, every statement ends', { timeout: 120_000 }, async () => {
  const over = new AbortController()
  const work = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await pool.one(sql`select pg_sleep(0.001)`).catch((error: unknown) => assert.ok(error instanceof DbError))
    }
  }
  const workers = Array.from({ length: 12 }, work)
  try {
    for (let round = 0; round < 60; round += 1) {
      await endConnections()
      await pool.one(sql`select pg_sleep(0.01)`).catch(() => undefined)
    }
  } finally {
    over.abort()
  }
  await Promise.all(workers)
})
