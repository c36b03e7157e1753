import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { statement } from '../stage/fixtures.ts'
import { aDatabase } from '../stage/harness.ts'
import { DbError, openDatabase, sql, type Database } from '../../src/platform/db.ts'

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

/** Ends the connections of the pool from outside, as PostgreSQL does when it stops. */
function endConnections(): Promise<number> {
  return other.run(
    sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'pool'`,
  )
}

test('a transaction whose connection is lost rejects, the process stays alive, and the next statement is answered', async () => {
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

const backendOf = async (db: Pick<Database, 'one'>): Promise<number> =>
  (await db.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)).pid

test(
  'connections that reach their maximum age are reopened under load, and no statement or transaction is disturbed',
  { timeout: 120_000 },
  async () => {
    const renewing = openDatabase({
      target: own.target,
      connectionsMax: 6,
      applicationName: 'renewing',
      statementTimeoutMs: 5_000,
      connectionSeconds: 0.02,
    })
    const backends = new Set<number>()
    const work = async (_unused: unknown, index: number): Promise<void> => {
      for (let round = 0; backends.size < BACKENDS; round += 1) {
        if ((round + index) % 2 === 0) backends.add(await backendOf(renewing))
        else {
          const pids = await renewing.transaction(async (tx) => {
            const first = await backendOf(tx)
            await tx.run(sql`select pg_sleep(0.002)`)
            return [first, await backendOf(tx)]
          })
          assert.equal(pids[0], pids[1])
        }
      }
    }
    await Promise.all(Array.from({ length: 20 }, work))
    await renewing.close()
  },
)

const BACKENDS = 100
const GIVEN = 100

/**
 * The number of bytes of 4 MB of input to `work`, 40 kB at a time, that a full garbage collection does not free. A
 * partial collection shows more, but on a loaded machine it also leaves bytes that a full one frees.
 */
async function leftBytes(work: (text: string) => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function that --expose-gc adds to a new context
  const collect = runInNewContext('gc') as () => void
  const usedBytes = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const run = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await work(`${'x'.repeat(40_000)}${time}`)
  }
  await run(40)
  const earlier = usedBytes()
  await run(GIVEN)
  return usedBytes() - earlier
}

test('the next garbage collection frees the parameters of a statement', async () => {
  const left = await leftBytes((text) => pool.one(sql`select length(${text}::text) as chars`))
  assert.ok(left < 2_000_000, `${left} bytes of 4 MB are left`)
})

test('the next garbage collection frees the parameters of a transaction', async () => {
  const left = await leftBytes((text) => pool.transaction((tx) => tx.one(sql`select length(${text}::text) as chars`)))
  assert.ok(left < 2_000_000, `${left} bytes of 4 MB are left`)
})

test('successive statements use the same connection, so that its backend stays warm', async () => {
  await Promise.all(Array.from({ length: 6 }, () => pool.run(sql`select pg_sleep(0.01)`)))
  const backends = new Set<number>()
  for (let statements = 0; statements < 20; statements += 1) backends.add(await backendOf(pool))
  assert.equal(backends.size, 1)
})

test('the list of idle connections reserves no place for past statements', async () => {
  await Promise.all(Array.from({ length: 6 }, () => pool.one(sql`select pg_sleep(0.01)`)))
  const plain = Object.getOwnPropertyDescriptor(Array.prototype, 'indexOf')
  assert.ok(plain !== undefined)
  let longest = 0
  const looked = function indexOf(this: unknown[], ...asked: [unknown, number?]): unknown {
    longest = Math.max(longest, this.length)
    return Reflect.apply(plain.value, this, asked)
  }
  // oxlint-disable-next-line no-extend-native -- the driver searches its lists by this method, so it shows their length
  Object.defineProperty(Array.prototype, 'indexOf', { ...plain, value: looked })
  try {
    for (let sent = 0; sent < 500; sent += 1) await pool.one(sql`select 1 as sent`)
  } finally {
    // oxlint-disable-next-line no-extend-native -- restores the original
    Object.defineProperty(Array.prototype, 'indexOf', plain)
  }
  assert.ok(longest > 0 && longest < 200, `500 statements ran, and ${longest} places were searched`)
})

test('no statement is JIT-compiled, whatever the setting of the database: compilation would take seconds for a statement that runs for a millisecond', async () => {
  const { name } = await other.one<{ name: string }>(sql`select current_database() as name`)
  await statement(other, `alter database "${name}" set jit = on`)
  const fresh = openDatabase({
    target: own.target,
    connectionsMax: 1,
    applicationName: 'fresh',
    statementTimeoutMs: 5_000,
  })
  assert.deepEqual(await fresh.one(sql`select current_setting('jit') as jit`), { jit: 'off' })
  await fresh.close()
})
