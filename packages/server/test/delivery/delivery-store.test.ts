import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TurnInput } from '../../src/pipeline/deliver/ports.ts'
import { createPostgresStore } from '../../src/pipeline/deliver/postgres-store.ts'
import { sql, type Db } from '../../src/platform/db.ts'
import { deliveries } from '../../src/resources/delivery/deliveries/index.ts'
import { destinations } from '../../src/resources/delivery/destinations/index.ts'
import { makeDue } from '../../src/resources/delivery/replays/queries.ts'
import {
  anyDue,
  delivered,
  gone,
  interrupted,
  retryIn,
  settleOf,
  valueOf,
  type LaneAt,
  type StoreRows,
} from '../stage/store-rows.ts'
import { beginsOf, onStoreStage, type StoreStage } from '../stage/store-stage.ts'

let rows: StoreRows
let stage: StoreStage

onStoreStage((made) => {
  ;({ rows, stage } = made)
})

// Interleavings: one transaction stays open while another connection works

test('neither a turn nor a read scans a whole table, also on a day that has no statistics yet', async () => {
  const { held, ids, store } = await stage.aLeasedLane(3)
  const readInput = { reads: [{ ...held, limit: 10, exclude: ids.slice(0, 1) }] }
  const turned = valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  const open = await stage.openTransaction()
  const readBefore = await readWhole(open.database)
  assert.equal(valueOf(await open.store.read(readInput)).lanes[0]?.due.length, 2)
  const settles = turned.begun.map((attempt) => settleOf(attempt, delivered))
  valueOf(await open.store.turn({ ...beginsOf(held, ids.slice(1)), settles }))
  const readAfter = await readWhole(open.database)
  await open.commit()
  assert.deepEqual(readAfter, readBefore)
})

/** The number of full scans of each table on this connection. */
async function readWhole(db: Db): Promise<Readonly<Record<string, number>>> {
  const tables = await db.many<{ name: string; times: number }>(sql`
    select relname as name, seq_scan as times
      from pg_stat_xact_user_tables
     where seq_scan > 0
  `)
  return Object.fromEntries(tables.map(({ name, times }) => [name, times]))
}

test('a grant skips a lane with an open turn, and recovers it after the turn has committed', async () => {
  const { held, ids, store } = await stage.aLeasedLane()
  rows.clock.advance(15_000)
  const open = await stage.openTransaction()
  const turned = valueOf(await open.store.turn(beginsOf(held, ids)))
  assert.equal(turned.begun.length, 1)
  assert.deepEqual([...valueOf(await store.lease(anyDue('b'))).grants], [])
  await open.commit()
  const { grants } = valueOf(await store.lease(anyDue('b', 2)))
  assert.deepEqual(
    grants.map(({ lane, fence }) => ({ lane, fence })),
    [{ lane: held.lane, fence: held.fence + 1 }],
  )
  assert.equal((await rows.delivery(ids[0])).state, 'retrying')
  const [begun] = turned.begun
  assert.ok(begun)
  const late = valueOf(await store.turn({ settles: [settleOf(begun, delivered)], begins: [] }))
  assert.deepEqual(late.applied, [], 'the attempt was closed as interrupted by the grant')
})

test('a turn under the old fence waits for a grant that is under way, and then changes nothing', async () => {
  const { held, ids, store } = await stage.aLeasedLane(2)
  const [begun] = valueOf(await store.turn(beginsOf(held, ids.slice(0, 1)))).begun
  assert.ok(begun)
  rows.clock.advance(15_000)
  const open = await stage.openTransaction()
  assert.equal(valueOf(await open.store.lease(anyDue('b'))).grants.length, 1)
  const turning = store.turn({
    settles: [settleOf(begun, delivered)],
    begins: [{ ...held, delivery_id: ids[1] ?? '' }],
  })
  await stage.untilBlocked()
  await open.commit()
  const turned = valueOf(await turning)
  assert.deepEqual([turned.applied, turned.begun, [...turned.lost]], [[], [], [held]])
  assert.equal((await rows.delivery(ids[0])).state, 'retrying')
  assert.equal((await rows.delivery(ids[1] ?? '')).state, 'pending')
})

test('an interrupted attempt leaves the status and the error of the previous attempt in its delivery', async () => {
  const { held, ids, store } = await stage.aLeasedLane()
  const result = { type: 'response', status: 503, retry_after_seconds: null } as const
  const refused = { ...retryIn(0), error_code: 'bad_status', result } as const
  for (const ended of [refused, interrupted]) {
    const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
    assert.ok(begun)
    valueOf(await store.turn({ settles: [settleOf(begun, ended)], begins: [] }))
  }
  assert.deepEqual(
    await rows.deps.database.one(sql`select last_status, last_error from deliveries where id = ${ids[0] ?? ''}`),
    { last_status: 503, last_error: 'bad_status' },
  )
})

test('of owners that lease at the same instant exactly one gets each lane', async () => {
  const workspace = await rows.aWorkspace()
  const lanes: LaneAt[] = []
  for (let index = 0; index < 8; index += 1) lanes.push(await rows.aLane(workspace))
  for (const lane of lanes) await rows.ingest(lane)
  const store = createPostgresStore(rows.deps)
  const owners = ['a', 'b', 'c', 'd']
  for (let round = 1; round <= 10; round += 1) {
    const leased = await Promise.all(
      owners.map((owner) => store.lease({ ...anyDue(`${owner}${round}`), wanted: lanes.map(({ lane }) => lane) })),
    )
    const granted = leased.flatMap((answer) => valueOf(answer).grants)
    assert.equal(new Set(granted.map(({ lane }) => lane)).size, granted.length, 'no lane twice')
    const held = await rows.deps.database.many(sql`select owner from lanes where owner is not null`)
    assert.equal(held.length, granted.length)
    for (const grant of granted) assert.ok(grant.fence <= round, 'a fence rises once with each grant')
    for (const owner of owners) valueOf(await store.release({ owner: `${owner}${round}`, lanes: 'all' }))
  }
})

test('a lane that is being granted is reported to no other owner, and afterwards is reported as elsewhere', async () => {
  const at = await rows.aLane()
  await rows.ingest(at)
  const open = await stage.openTransaction()
  assert.equal(valueOf(await open.store.lease(anyDue('a'))).grants.length, 1)
  const store = createPostgresStore(rows.deps)
  const wanted = { ...anyDue('b'), any_due: false, wanted: [at.lane] }
  assert.deepEqual([...valueOf(await store.lease(wanted)).grants], [])
  await open.commit()
  const later = valueOf(await store.lease({ ...wanted, serial: 2 }))
  assert.deepEqual([[...later.grants], [...later.elsewhere]], [[], [at.lane]])
})

test('disabling a destination skips a delivery that a turn is beginning, and its attempt ends with its real result', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(3)
  const open = await stage.openTransaction()
  const { begun } = valueOf(await open.store.turn(beginsOf(held, ids.slice(0, 2))))
  await rows.switchLane(at, false)
  await open.commit()
  assert.deepEqual(await rows.states(), ['sending', 'sending', 'paused'])
  const [first, second] = begun
  assert.ok(first && second)
  valueOf(await store.turn({ settles: [settleOf(first, delivered), settleOf(second, retryIn(5_000))], begins: [] }))
  assert.equal((await rows.delivery(first.delivery_id)).state, 'delivered')
  assert.equal((await rows.delivery(second.delivery_id)).state, 'paused')
})

test('a begin waits for a destination that is being disabled, and is refused', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane()
  const open = await stage.openTransaction()
  await rows.switchLane(at, false, open.database)
  const turning = store.turn(beginsOf(held, ids))
  await stage.untilBlocked()
  await open.commit()
  assert.deepEqual(valueOf(await turning).begun, [])
  assert.equal((await rows.delivery(ids[0])).state, 'paused')
  assert.deepEqual([...valueOf(await store.turn(beginsOf(held, ids))).paused], [held])
})

test('results are recorded although a delivery in the same batch is being paused', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(4)
  const { begun } = valueOf(await store.turn(beginsOf(held, ids.slice(0, 2))))
  const open = await stage.openTransaction()
  await rows.switchLane(at, false, open.database)
  const turning = store.turn({
    settles: begun.map((one) => settleOf(one, delivered)),
    begins: beginsOf(held, ids.slice(2)).begins,
  })
  await stage.untilBlocked()
  await open.commit()
  const turned = valueOf(await turning)
  assert.deepEqual(turned.applied.toSorted(), begun.map((one) => one.attempt_id).toSorted())
  assert.deepEqual(await rows.states(), ['delivered', 'delivered', 'paused', 'paused'])
})

test('a bulk replay skips no delivery when another one is being changed', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(3)
  const { begun } = valueOf(await store.turn(beginsOf(held, ids)))
  valueOf(await store.turn({ settles: begun.map((one) => settleOf(one, delivered)), begins: [] }))
  const open = await stage.openTransaction()
  await deliveries.replay(rows.ctx(at, open.database), { id: ids[0] ?? '' })
  const slots = ids.map((id) => ({ id, at: rows.now }))
  const replaying = makeDue(rows.deps.database, {
    ...at,
    replayId: rows.deps.uuid(),
    slots,
    states: ['delivered'],
    now: rows.now,
  })
  await stage.untilBlocked()
  await open.commit()
  assert.deepEqual((await replaying).map(({ id }) => id).toSorted(), ids.slice(1))
  assert.deepEqual(await rows.states(), ['pending', 'retrying', 'retrying'])
})

test('only the first outstanding delivery of a key is begun, also by concurrent turns', async () => {
  const at = await rows.aLane(undefined, { path: 'key' })
  const key = '00000000-0000-4000-8000-00000000000a'
  const ids = (await rows.ingest(at, { count: 3, orderKeys: [key, key, key] })).map((item) => item.delivery_id)
  const store = createPostgresStore(rows.deps)
  const [grant] = valueOf(await store.lease(anyDue('a'))).grants
  assert.equal(grant?.settings.ordered, true)
  const held = { lane: at.lane, fence: grant.fence }
  const begin = (id: string | undefined, ordered = true): TurnInput => ({
    settles: [],
    begins: [{ ...held, delivery_id: id ?? '', ordered }],
  })
  assert.deepEqual(
    valueOf(await store.turn(begin(ids[0], false))).begun,
    [],
    'a sender that does not know of the order begins nothing',
  )
  const read = { reads: [{ ...held, limit: 10, exclude: [], ordered: true }] }
  assert.deepEqual(valueOf(await store.read(read)).lanes[0]?.due, ids.slice(0, 1))
  const open = await stage.openTransaction()
  const [first] = valueOf(await open.store.turn(begin(ids[0]))).begun
  assert.ok(first)
  assert.deepEqual(valueOf(await store.turn(begin(ids[1]))).begun, [], 'before the commit of the other turn')
  await open.commit()
  assert.deepEqual(valueOf(await store.turn(begin(ids[1]))).begun, [], 'after it')
  valueOf(await store.turn({ settles: [settleOf(first, retryIn(60_000))], begins: begin(ids[1]).begins }))
  assert.deepEqual(await rows.states(), ['retrying', 'pending', 'pending'])
  assert.deepEqual(
    valueOf(await store.read(read)).lanes[0]?.due,
    [],
    'a delivery that waits for a retry blocks all behind it',
  )
  rows.clock.advance(60_000)
  const [again] = valueOf(await store.turn(begin(ids[0]))).begun
  assert.ok(again)
  valueOf(await store.turn({ settles: [settleOf(again, delivered)], begins: [] }))
  assert.equal(valueOf(await store.turn(begin(ids[1]))).begun.length, 1)
})

test('a delivery whose attempt ends while its destination is being enabled is paused, and a sweep resumes it', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane()
  const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
  assert.ok(begun)
  await rows.switchLane(at, false)
  const open = await stage.openTransaction()
  await rows.switchLane(at, true, open.database)
  valueOf(await store.turn({ settles: [settleOf(begun, retryIn(5_000))], begins: [] }))
  await open.commit()
  assert.equal((await rows.delivery(ids[0])).state, 'paused')
  valueOf(await store.lease(anyDue('b')))
  assert.equal((await rows.delivery(ids[0])).state, 'retrying', 'although another owner has the lane')
})

test('a delivery whose attempt ends while its destination is being disabled waits, and a sweep pauses it', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane()
  const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
  assert.ok(begun)
  const open = await stage.openTransaction()
  await rows.switchLane(at, false, open.database)
  valueOf(await store.turn({ settles: [settleOf(begun, retryIn(5_000))], begins: [] }))
  await open.commit()
  assert.equal((await rows.delivery(ids[0])).state, 'retrying')
  rows.clock.advance(5_000)
  assert.deepEqual(valueOf(await store.turn(beginsOf(held, ids))).begun, [], 'nothing is sent meanwhile')
  valueOf(await store.release({ owner: 'a', lanes: [held] }))
  valueOf(await store.lease(anyDue('b')))
  assert.equal((await rows.delivery(ids[0])).state, 'paused')
})

test('a sweep cancels a delivery that was begun during the deletion of its destination, and closes its attempt', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(2)
  const open = await stage.openTransaction()
  const [begun] = valueOf(await open.store.turn(beginsOf(held, ids.slice(0, 1)))).begun
  assert.ok(begun)
  await destinations.remove(rows.ctx(at), { id: at.destinationId })
  await open.commit()
  assert.deepEqual(await rows.states(), ['sending', 'cancelled'])
  const late = valueOf(await store.turn({ settles: [settleOf(begun, delivered)], begins: beginsOf(held, ids).begins }))
  assert.deepEqual([late.applied, late.begun, [...late.lost]], [[], [], [held]])
  valueOf(await store.lease(anyDue('b')))
  assert.deepEqual(await rows.states(), ['cancelled', 'cancelled'])
  assert.deepEqual(
    [...(await rows.deps.database.many(sql`select outcome from delivery_attempts`))],
    [{ outcome: 'interrupted' }],
  )
})

test('a destination can be disabled while turns follow one another in its lane without a pause', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(400)
  const left = [...ids]
  const machine = { stopped: false }
  const turning = [0, 1].map(async () => {
    while (!machine.stopped) {
      const { begun } = valueOf(await store.turn(beginsOf(held, left.splice(0, 2))))
      valueOf(await store.turn({ settles: begun.map((one) => settleOf(one, delivered)), begins: [] }))
      left.push(...begun.map((one) => one.delivery_id))
    }
  })
  await rows.switchLane(at, false)
  machine.stopped = true
  await Promise.all(turning)
  assert.equal(valueOf(await store.turn(beginsOf(held, ids))).begun.length, 0)
})

test('a 410 that is settled twice, or under an old fence, does not disable a destination that was enabled since', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(2)
  const isEnabled = async (): Promise<boolean> =>
    (
      await rows.deps.database.one<{ enabled: boolean }>(
        sql`select enabled from destinations where id = ${at.destinationId}`,
      )
    ).enabled
  const { begun } = valueOf(await store.turn(beginsOf(held, ids)))
  const [first, second] = begun
  assert.ok(first && second)
  const settles = [settleOf(first, gone)]
  assert.equal(valueOf(await store.turn({ settles, begins: [] })).applied.length, 1)
  assert.equal(await isEnabled(), false)
  await rows.switchLane(at, true)
  assert.equal(valueOf(await store.turn({ settles, begins: [] })).applied.length, 0)
  assert.equal(await isEnabled(), true, 'the answer to the first settle was lost, and it came again')
  rows.clock.advance(15_000)
  assert.equal(valueOf(await store.lease(anyDue('b'))).grants.length, 1)
  assert.equal(valueOf(await store.turn({ settles: [settleOf(second, gone)], begins: [] })).applied.length, 0)
  assert.equal(await isEnabled(), true, 'the lane belongs to another owner by now')
})

test('two turns that disable destinations in two workspaces, in opposite orders, both commit', async () => {
  const [one, other] = [await rows.aWorkspace(), await rows.aWorkspace()]
  const lanes = [await rows.aLane(one), await rows.aLane(other), await rows.aLane(other), await rows.aLane(one)]
  const store = createPostgresStore(rows.deps)
  const ids = new Map<string, string>()
  for (const lane of lanes) for (const item of await rows.ingest(lane)) ids.set(lane.lane, item.delivery_id)
  const { grants } = valueOf(await store.lease(anyDue('a')))
  const { begun } = valueOf(
    await store.turn({
      settles: [],
      begins: grants.map(({ lane, fence }) => ({ lane, fence, delivery_id: ids.get(lane) ?? '' })),
    }),
  )
  const goneOf = (lane: LaneAt) =>
    settleOf(begun.find((sent) => sent.lane === lane.lane) ?? assert.fail('it was not begun'), gone)
  const [first, second, third, fourth] = lanes.map(goneOf)
  assert.ok(first && second && third && fourth)
  const held = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const blocker = rows.deps.database.transaction(async (db) => {
    await db.many(
      sql`select id from projects where workspace_id in (${one.workspaceId}, ${other.workspaceId}) for update`,
    )
    held.resolve()
    await free.promise
  })
  await held.promise
  const turning = Promise.all([
    store.turn({ settles: [first, second], begins: [] }),
    store.turn({ settles: [third, fourth], begins: [] }),
  ])
  await stage.untilBlocked(2)
  free.resolve()
  await blocker
  assert.deepEqual(
    (await turning).map((turned) => valueOf(turned).applied.length),
    [2, 2],
  )
})
