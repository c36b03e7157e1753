import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../../src/platform/clock.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { createDueBoard } from '../../src/platform/due-board.ts'
import { createLeaseLoop, type Loop } from '../../src/platform/lease-loop.ts'
import { createLeases, EVERY_LEASE } from '../../src/platform/leases.ts'
import { eventually } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'
import { DUE } from '../../src/workers/loops.ts'

let database: Database
let retryLog: Parameters<typeof createLeaseLoop>[0]['retryLog']

onWorldStage(
  (made) => {
    database = made.database
    retryLog = made.world.app.deps.retryLog
  },
  { env: { ROLES: 'web' }, loops: [] },
)

const SECOND_MS = 1_000

/** Processes that share a clock and a database, and count the runs of one loop. */
function someProcesses(name: string, scope: Loop['scope']) {
  const clock = testClock(Date.parse('2026-01-01T00:00:00Z'))
  const runs: Partial<Record<string, number>> = {}
  const start = (owner: string) => {
    const leases = createLeases({ database, clock }, owner)
    runs[owner] = 0
    const work = (): Promise<void> => {
      runs[owner] = (runs[owner] ?? 0) + 1
      return Promise.resolve()
    }
    const loop = createLeaseLoop({ clock, retryLog, leases }, { name, everyMs: SECOND_MS, role: 'work', scope, work })
    loop.start()
    return { loop, leases }
  }
  /** Lets every loop reach its next pause. */
  const settled = () =>
    eventually('every loop has reached its next pause', () =>
      Promise.resolve(clock.waiting() === Object.keys(runs).length ? true : undefined),
    )
  /** Removes one process from those that `settled` waits for. */
  const forget = (owner: string): void => {
    delete runs[owner]
  }
  return { clock, runs, start, settled, forget }
}

test('a loop of the installation runs in one process at a time, and in the next one once that process ends', async () => {
  const { clock, runs, start, settled, forget } = someProcesses('test.one', 'installation')
  const first = start('first')
  await settled()
  start('second')
  await settled()
  for (let second = 0; second < 30; second += 1) {
    clock.advance(SECOND_MS)
    // oxlint-disable-next-line no-await-in-loop -- run after run
    await settled()
  }
  assert.deepEqual(runs, { first: 31, second: 0 })
  await first.loop.stop()
  await first.leases.release()
  forget('first')
  clock.advance(5 * SECOND_MS)
  await settled()
  assert.deepEqual(runs, { second: 1 })
})

test('a process that crashes is replaced when its lease ends, and not before', async () => {
  const { clock, runs, start, settled, forget } = someProcesses('test.dead', 'installation')
  const dead = start('dead')
  await settled()
  await dead.loop.stop()
  forget('dead')
  start('living')
  await settled()
  clock.advance(10 * SECOND_MS)
  await settled()
  assert.deepEqual(runs, { living: 0 })
  clock.advance(10 * SECOND_MS)
  await settled()
  assert.deepEqual(runs, { living: 1 })
})

test('a loop of the process runs in every process', async () => {
  const { runs, start, settled } = someProcesses('test.every', 'process')
  start('first')
  start('second')
  await settled()
  assert.deepEqual(runs, { first: 1, second: 1 })
})

/** A loop that has work from `dueAt` on and counts its runs, and the statements that asked about it. */
function waiting(dueAt: number) {
  const clock = testClock(Date.parse('2026-01-01T00:00:00Z'))
  const counts = { runs: 0, statements: 0 }
  const of = { dueAt, rows: 0, busy: false }
  const counted: Pick<Database, 'one'> = {
    one: (query) => {
      counts.statements += 1
      return database.one(query)
    },
  }
  const due = (now: Date) => sql`select where ${now} >= ${new Date(of.dueAt)}`
  const dueBoard = createDueBoard({ database: { ...database, ...counted }, clock }, new Map([['test.waits', due]]))
  const loop = createLeaseLoop(
    { clock, retryLog, leases: EVERY_LEASE, dueBoard },
    {
      name: 'test.waits',
      everyMs: SECOND_MS,
      role: 'work',
      scope: 'process',
      due,
      busy: () => of.busy,
      work: () => {
        counts.runs += 1
        return Promise.resolve({ rows: of.rows })
      },
    },
  )
  const seconds = async (count: number): Promise<void> => {
    for (let second = 0; second < count; second += 1) {
      clock.advance(SECOND_MS)
      // oxlint-disable-next-line no-await-in-loop -- look after look
      await eventually('the loop has reached its next pause', () =>
        Promise.resolve(clock.waiting() === 1 ? true : undefined),
      )
    }
  }
  return { clock, counts, loop, of, seconds }
}

test('a loop runs when its condition finds a row, after work, while it is busy, and every 30 seconds', async () => {
  const from = Date.parse('2026-01-01T00:00:00Z')
  const { counts, loop, of, seconds } = waiting(from + 10 * SECOND_MS)
  loop.start()
  await eventually('the first run has ended', () => Promise.resolve(counts.runs === 1 ? true : undefined))
  await seconds(9)
  assert.deepEqual(counts, { runs: 1, statements: 9 })
  await seconds(1)
  assert.equal(counts.runs, 2)
  of.dueAt = from + 1_000 * SECOND_MS
  await seconds(5)
  assert.equal(counts.runs, 2)
  of.busy = true
  await seconds(1)
  assert.equal(counts.runs, 3)
  of.busy = false
  await seconds(29)
  assert.equal(counts.runs, 3)
  of.rows = 1
  await seconds(1)
  assert.equal(counts.runs, 4)
  await seconds(1)
  assert.equal(counts.runs, 5)
  await loop.stop()
})

test('a new installation has work for no loop that waits for rows, and one statement finds that out', async () => {
  const clock = testClock(Date.parse('2026-01-01T00:00:00Z'))
  const dueBoard = createDueBoard({ database, clock }, new Map(Object.entries(DUE)))
  const found = await Promise.all(
    Object.keys(DUE).map(async (name) => ((await dueBoard.isDue(name)) ? name : undefined)),
  )
  assert.deepEqual(
    found.filter((name) => name !== undefined),
    [],
  )
})
