import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Held } from '../../src/pipeline/deliver/ports.ts'
import { createPostgresStore } from '../../src/pipeline/deliver/postgres-store.ts'
import { sql, type Db } from '../../src/platform/db.ts'
import { makeDays } from '../../src/platform/partitions.ts'
import { DAY_TABLES } from '../../src/workers/upkeep.ts'
import { anyDue, delivered, settleOf, valueOf, type StoreRows } from '../stage/store-rows.ts'
import { beginsOf, onStoreStage, type StoreStage } from '../stage/store-stage.ts'

// Deliveries of the recent days cost the same however many days are retained; older ones are delivered too
// (docs/adr/0054).

let rows: StoreRows
let stage: StoreStage

onStoreStage((made) => {
  ;({ rows, stage } = made)
})

const DAY_MS = 86_400_000

/** A lane with a delivery from three days ago and a recent one; another owner has acquired the lane since. */
async function anOldAndANew(): Promise<{ held: Held; old: string; young: string }> {
  const {
    at,
    ids: [old = ''],
  } = await stage.aLeasedLane()
  rows.clock.advance(3 * DAY_MS)
  await rows.makeDays()
  const young = (await rows.ingest(at))[0]?.delivery_id ?? ''
  const { grants } = valueOf(await createPostgresStore(rows.deps).lease(anyDue('b')))
  return { held: { lane: at.lane, fence: grants[0]?.fence ?? 0 }, old, young }
}

test('a read of recent deliveries leaves out a delivery from days ago; a full read finds it', async () => {
  const { held, old, young } = await anOldAndANew()
  const dueOf = async (recent: boolean) =>
    valueOf(await createPostgresStore(rows.deps).read({ reads: [{ ...held, limit: 10, exclude: [], recent }] }))
      .lanes[0]?.due
  assert.deepEqual(await dueOf(true), [young])
  assert.deepEqual(await dueOf(false), [old, young])
})

test('a turn begins and settles deliveries from days ago, alone and together with new ones', async () => {
  const { held, old, young } = await anOldAndANew()
  const store = createPostgresStore(rows.deps)
  const [first] = valueOf(await store.turn(beginsOf(held, [old]))).begun
  assert.ok(first)
  const settles = [settleOf(first, delivered)]
  const turned = valueOf(await store.turn({ settles, begins: beginsOf(held, [young]).begins }))
  assert.deepEqual([turned.applied, turned.begun.map(({ delivery_id }) => delivery_id)], [[first.attempt_id], [young]])
  assert.deepEqual([(await rows.delivery(old)).state, (await rows.delivery(young)).state], ['delivered', 'sending'])
})

test('a read and a turn of recent deliveries use no table of another day', async () => {
  const now = rows.clock.now()
  await makeDays(rows.deps.database, DAY_TABLES, { now: now - 9 * DAY_MS, daysAhead: 12 })
  const { held, ids } = await stage.aLeasedLane(2)
  const open = await stage.openTransaction()
  assert.equal(
    valueOf(await open.store.read({ reads: [{ ...held, limit: 10, exclude: [], recent: true }] })).lanes[0]?.due.length,
    2,
  )
  assert.deepEqual(await daysUsed(open.database), daysFrom(now, ['deliveries']))
  const [first] = valueOf(await open.store.turn(beginsOf(held, ids.slice(0, 1)))).begun
  assert.ok(first)
  valueOf(await open.store.turn({ settles: [settleOf(first, delivered)], begins: beginsOf(held, ids.slice(1)).begins }))
  const used = await daysUsed(open.database)
  await open.commit()
  const origins = ['records', 'submissions'].map((table) => `${table}_${nameOf(now - 2 * DAY_MS)}`)
  assert.deepEqual(
    used,
    [...daysFrom(now, ['deliveries', 'delivery_attempts', 'records', 'submissions']), ...origins].toSorted(),
  )
})

const nameOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')
const daysFrom = (now: number, tables: readonly string[]): readonly string[] =>
  tables.flatMap((table) => [-1, 0, 1].map((days) => `${table}_${nameOf(now + days * DAY_MS)}`)).toSorted()

/** The day tables that this transaction has locked: each statement locks all tables of its plan. */
async function daysUsed(db: Db): Promise<readonly string[]> {
  const locked = await db.many<{ name: string }>(sql`
    select distinct c.relname as name
      from pg_locks l
      join pg_class c on c.oid = l.relation
     where l.pid = pg_backend_pid()
       and c.relispartition
       and c.relkind = 'r'
     order by c.relname
  `)
  return locked.map(({ name }) => name)
}
