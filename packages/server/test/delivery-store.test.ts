import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { DELIVERY_STATES } from '../src/domain/delivery-state.ts'
import type { Held, Leased, StorePort, TurnInput } from '../src/pipeline/deliver/ports.ts'
import { createPostgresStore } from '../src/pipeline/deliver/postgres-store.ts'
import { createSender } from '../src/pipeline/deliver/send.ts'
import { sql, type Database, type Db } from '../src/platform/db.ts'
import { MOVED_ROWS_MAX, pauseOutstanding } from '../src/resources/deliveries/queries.ts'
import { deliveries } from '../src/resources/deliveries/index.ts'
import { destinations } from '../src/resources/destinations/index.ts'
import { makeDue } from '../src/resources/replays/queries.ts'
import { aWorld, eventually, type World } from './harness.ts'
import { anyDue, delivered, gone, retryIn, settleOf, StoreRows, valueOf, type LaneAt } from './store-rows.ts'
import { breakerOpenFor, KINDS, Twin, type Step } from './store-twin.ts'

/** Nothing in this process sends: the tests are the delivery machines. */
let world: World
let rows: StoreRows

before(async () => {
  world = await aWorld({ env: { ROLES: 'web' } })
  rows = new StoreRows(world)
  await rows.makeDays()
})
after(() => world.stop())
beforeEach(() => rows.clear())

// The differential test

const OFTEN: Partial<Record<Step['kind'], number>> = { turn: 10, lease: 6, ingest: 4, advance: 4, read: 2, replay: 2 }

test('the store on PostgreSQL answers and writes like the model, whatever the order of operations', async () => {
  const step = fc.record({
    kind: fc.oneof(...KINDS.map((kind) => ({ weight: OFTEN[kind] ?? 1, arbitrary: fc.constant(kind) }))),
    lane: fc.nat(5),
    n: fc.nat(200),
    m: fc.nat(200),
  })
  const seen = new Set<string>()
  const property = fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
    await rows.clear()
    const one = await rows.aWorkspace()
    const twin = new Twin(rows, [await rows.aLane(one), await rows.aLane(one), await rows.aLane(undefined, { path: 'key' })])
    // A change of a destination comes after its creation.
    rows.clock.advance(1)
    // oxlint-disable-next-line no-await-in-loop -- an order of operations is what is tested
    for (const each of steps) await twin.do(each)
    for (const what of twin.seen) seen.add(what)
  })
  await fc.assert(property, {
    numRuns: Number(process.env['STORE_RUNS'] ?? 20),
    seed: Number(process.env['STORE_SEED'] ?? 4_680),
    includeErrorInReport: true,
    // Making a failure small takes minutes: STORE_SHRINK=1 does.
    endOnFailure: process.env['STORE_SHRINK'] === undefined,
  })
  const settled = ['delivered', 'retrying', 'failed', 'paused'].map((next) => `settled ${next}`)
  const wanted = [...KINDS, ...DELIVERY_STATES.map((state) => `state ${state}`), ...settled, 'begun', 'lost', 'paused', 'orphaned']
  assert.deepEqual(wanted.filter((what) => !seen.has(what)), [], 'every kind of operation and every state was met')
})

// Interleavings: one transaction is held open while another connection comes

type Open = { readonly database: Database; readonly store: StorePort; commit(): Promise<void> }

/** A store whose operations all run inside one transaction, which stays open until `commit`. */
async function openTransaction(): Promise<Open> {
  const inside = Promise.withResolvers<Db>()
  const gate = Promise.withResolvers<undefined>()
  const ended = rows.deps.database.transaction(async (db) => {
    inside.resolve(db)
    await gate.promise
  })
  const db = await inside.promise
  const database: Database = { ...rows.deps.database, ...db, transaction: (work) => work(db) }
  return {
    database,
    store: createPostgresStore({ ...rows.deps, database }),
    commit: async () => {
      gate.resolve(undefined)
      await ended
    },
  }
}

/** Waits until some statements in this database wait for locks of others. */
async function untilBlocked(least = 1): Promise<void> {
  await eventually(async () => {
    const { waiting } = await rows.deps.database.one<{ waiting: number }>(sql`
      select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    `)
    return waiting >= least ? true : undefined
  })
}

/** A lane that owner `a` holds, with deliveries that are due. */
async function aHeldLane(count = 1): Promise<{ at: LaneAt; held: Held; ids: readonly string[]; store: StorePort }> {
  const at = await rows.aLane()
  const ids = (await rows.ingest(at, { count })).map((item) => item.delivery_id)
  const store = createPostgresStore(rows.deps)
  const { grants } = valueOf(await store.lease(anyDue('a')))
  assert.equal(grants.length, 1)
  return { at, held: { lane: at.lane, fence: grants[0]?.fence ?? 0 }, ids, store }
}

const beginsOf = (held: Held, ids: readonly string[]): TurnInput => ({ settles: [], begins: ids.map((delivery_id) => ({ ...held, delivery_id })) })

test('neither a turn nor a read goes through a whole table, also on a day that has no statistics yet', async () => {
  const { held, ids, store } = await aHeldLane(3)
  const readInput = { reads: [{ ...held, limit: 10, exclude: ids.slice(0, 1) }] }
  const turned = valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  const open = await openTransaction()
  const readBefore = await readWhole(open.database)
  assert.equal(valueOf(await open.store.read(readInput)).lanes[0]?.due.length, 2)
  const settles = turned.begun.map((attempt) => settleOf(attempt, delivered))
  valueOf(await open.store.turn({ ...beginsOf(held, ids.slice(1)), settles }))
  const readAfter = await readWhole(open.database)
  await open.commit()
  assert.deepEqual(readAfter, readBefore)
})

/** How often this connection has read each table whole. */
async function readWhole(db: Db): Promise<Readonly<Record<string, number>>> {
  const tables = await db.many<{ name: string; times: number }>(sql`
    select relname as name, seq_scan as times
      from pg_stat_xact_user_tables
     where seq_scan > 0
  `)
  return Object.fromEntries(tables.map(({ name, times }) => [name, times]))
}

test('a grant passes a lane by while a turn is open in it, and recovers it after the turn has committed', async () => {
  const { held, ids, store } = await aHeldLane()
  rows.clock.advance(15_000)
  const open = await openTransaction()
  const turned = valueOf(await open.store.turn(beginsOf(held, ids)))
  assert.equal(turned.begun.length, 1)
  assert.deepEqual([...valueOf(await store.lease(anyDue('b'))).grants], [])
  await open.commit()
  const { grants } = valueOf(await store.lease(anyDue('b', 2)))
  assert.deepEqual(grants.map(({ lane, fence }) => ({ lane, fence })), [{ lane: held.lane, fence: held.fence + 1 }])
  assert.equal((await rows.delivery(ids[0])).state, 'retrying')
  const [begun] = turned.begun
  assert.ok(begun)
  const late = valueOf(await store.turn({ settles: [settleOf(begun, delivered)], begins: [] }))
  assert.deepEqual(late.applied, [], 'the attempt was closed as interrupted by the grant')
})

test('a turn under the old fence waits for a grant that is under way, and then changes nothing', async () => {
  const { held, ids, store } = await aHeldLane(2)
  const [begun] = valueOf(await store.turn(beginsOf(held, ids.slice(0, 1)))).begun
  assert.ok(begun)
  rows.clock.advance(15_000)
  const open = await openTransaction()
  assert.equal(valueOf(await open.store.lease(anyDue('b'))).grants.length, 1)
  const turning = store.turn({ settles: [settleOf(begun, delivered)], begins: [{ ...held, delivery_id: ids[1] ?? '' }] })
  await untilBlocked()
  await open.commit()
  const turned = valueOf(await turning)
  assert.deepEqual([turned.applied, turned.begun, [...turned.lost]], [[], [], [held]])
  assert.equal((await rows.delivery(ids[0])).state, 'retrying')
  assert.equal((await rows.delivery(ids[1] ?? '')).state, 'pending')
})

test('of owners who lease at the same instant exactly one gets each lane', async () => {
  const workspace = await rows.aWorkspace()
  const lanes: LaneAt[] = []
  for (let index = 0; index < 8; index += 1) lanes.push(await rows.aLane(workspace))
  for (const lane of lanes) await rows.ingest(lane)
  const store = createPostgresStore(rows.deps)
  const owners = ['a', 'b', 'c', 'd']
  for (let round = 1; round <= 10; round += 1) {
    const leased = await Promise.all(owners.map((owner) => store.lease({ ...anyDue(`${owner}${round}`), wanted: lanes.map(({ lane }) => lane) })))
    const granted = leased.flatMap((answer) => valueOf(answer).grants)
    assert.equal(new Set(granted.map(({ lane }) => lane)).size, granted.length, 'no lane twice')
    const held = await rows.deps.database.many(sql`select owner from lanes where owner is not null`)
    assert.equal(held.length, granted.length)
    for (const grant of granted) assert.ok(grant.fence <= round, 'a fence rises once with each grant')
    for (const owner of owners) valueOf(await store.release({ owner: `${owner}${round}`, lanes: 'all' }))
  }
})

test('a lane that is just being granted is nobody else’s, and then elsewhere', async () => {
  const at = await rows.aLane()
  await rows.ingest(at)
  const open = await openTransaction()
  assert.equal(valueOf(await open.store.lease(anyDue('a'))).grants.length, 1)
  const store = createPostgresStore(rows.deps)
  const wanted = { ...anyDue('b'), any_due: false, wanted: [at.lane] }
  assert.deepEqual([...valueOf(await store.lease(wanted)).grants], [])
  await open.commit()
  const later = valueOf(await store.lease({ ...wanted, serial: 2 }))
  assert.deepEqual([[...later.grants], [...later.elsewhere]], [[], [at.lane]])
})

test('switching a destination off passes by what a turn is just beginning, whose attempt ends as it began', async () => {
  const { at, held, ids, store } = await aHeldLane(3)
  const open = await openTransaction()
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

test('a begin waits for a destination that is just being switched off, and is refused', async () => {
  const { at, held, ids, store } = await aHeldLane()
  const open = await openTransaction()
  await rows.switchLane(at, false, open.database)
  const turning = store.turn(beginsOf(held, ids))
  await untilBlocked()
  await open.commit()
  assert.deepEqual(valueOf(await turning).begun, [])
  assert.equal((await rows.delivery(ids[0])).state, 'paused')
  assert.deepEqual([...valueOf(await store.turn(beginsOf(held, ids))).paused], [held])
})

test('results are recorded although what is begun beside them is just being paused', async () => {
  const { at, held, ids, store } = await aHeldLane(4)
  const { begun } = valueOf(await store.turn(beginsOf(held, ids.slice(0, 2))))
  const open = await openTransaction()
  await rows.switchLane(at, false, open.database)
  const turning = store.turn({ settles: begun.map((one) => settleOf(one, delivered)), begins: beginsOf(held, ids.slice(2)).begins })
  await untilBlocked()
  await open.commit()
  const turned = valueOf(await turning)
  assert.deepEqual(turned.applied.toSorted(), begun.map((one) => one.attempt_id).toSorted())
  assert.deepEqual(await rows.states(), ['delivered', 'delivered', 'paused', 'paused'])
})

test('of several deliveries that are replayed at once none is passed over because another one is just being changed', async () => {
  const { at, held, ids, store } = await aHeldLane(3)
  const { begun } = valueOf(await store.turn(beginsOf(held, ids)))
  valueOf(await store.turn({ settles: begun.map((one) => settleOf(one, delivered)), begins: [] }))
  const open = await openTransaction()
  await deliveries.replay(rows.ctx(at, open.database), { id: ids[0] ?? '' })
  const slots = ids.map((id) => ({ id, at: rows.now }))
  const replaying = makeDue(rows.deps.database, { ...at, slots, states: ['delivered'], now: rows.now })
  await untilBlocked()
  await open.commit()
  assert.deepEqual((await replaying).map(({ id }) => id).toSorted(), ids.slice(1))
  assert.deepEqual(await rows.states(), ['pending', 'retrying', 'retrying'])
})

test('of deliveries with one key only the first that is outstanding is begun, also by turns that run beside each other', async () => {
  const at = await rows.aLane(undefined, { path: 'key' })
  const key = '00000000-0000-4000-8000-00000000000a'
  const ids = (await rows.ingest(at, { count: 3, orderKeys: [key, key, key] })).map((item) => item.delivery_id)
  const store = createPostgresStore(rows.deps)
  const [grant] = valueOf(await store.lease(anyDue('a'))).grants
  assert.equal(grant?.settings.ordered, true)
  const held = { lane: at.lane, fence: grant.fence }
  const begin = (id: string | undefined, ordered = true): TurnInput => ({ settles: [], begins: [{ ...held, delivery_id: id ?? '', ordered }] })
  assert.deepEqual(valueOf(await store.turn(begin(ids[0], false))).begun, [], 'a sender that does not know of the order begins nothing')
  const read = { reads: [{ ...held, limit: 10, exclude: [], ordered: true }] }
  assert.deepEqual(valueOf(await store.read(read)).lanes[0]?.due, ids.slice(0, 1))
  const open = await openTransaction()
  const [first] = valueOf(await open.store.turn(begin(ids[0]))).begun
  assert.ok(first)
  assert.deepEqual(valueOf(await store.turn(begin(ids[1]))).begun, [], 'before the commit of the other turn')
  await open.commit()
  assert.deepEqual(valueOf(await store.turn(begin(ids[1]))).begun, [], 'after it')
  valueOf(await store.turn({ settles: [settleOf(first, retryIn(60_000))], begins: begin(ids[1]).begins }))
  assert.deepEqual(await rows.states(), ['retrying', 'pending', 'pending'])
  assert.deepEqual(valueOf(await store.read(read)).lanes[0]?.due, [], 'what waits for a retry holds up all behind it')
  rows.clock.advance(60_000)
  const [again] = valueOf(await store.turn(begin(ids[0]))).begun
  assert.ok(again)
  valueOf(await store.turn({ settles: [settleOf(again, delivered)], begins: [] }))
  assert.equal(valueOf(await store.turn(begin(ids[1]))).begun.length, 1)
})

/** What a new owner is told of the requests of others. */
const orphansOf = ({ grants }: Leased): readonly (readonly number[])[] => grants.map((grant) => grant.orphans_end_in_ms.toSorted((a, b) => a - b))

test('who is granted a lane is told how long what its former owner began may be under way, also when the answer of the grant before was lost', async () => {
  const { held, ids, store } = await aHeldLane(3)
  assert.equal(valueOf(await store.turn(beginsOf(held, ids.slice(0, 1)))).begun.length, 1)
  rows.clock.advance(3_000)
  assert.equal(valueOf(await store.turn(beginsOf(held, ids.slice(1, 2)))).begun.length, 1)
  rows.clock.advance(12_000)
  // Each may leave 5 s after it was begun, and end 15 s after that.
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b')))), [[5_000, 8_000]])
  rows.clock.advance(1_000)
  const again = valueOf(await store.lease({ ...anyDue('b', 2), doubtful_from: 1 }))
  assert.deepEqual(orphansOf(again), [[4_000, 7_000]], 'recovered by the grant before, and known to the next one')
  valueOf(await store.release({ owner: 'b', lanes: 'all' }))
  rows.clock.advance(4_000)
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('c')))), [[3_000]], 'one has ended, and who held the lane in between said nothing of them')
})

test('an owner that gives a lane back or says that it ended has nothing under way in it', async () => {
  const { held, ids, store } = await aHeldLane(3)
  valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  valueOf(await store.release({ owner: 'a', lanes: [held] }))
  const [b] = valueOf(await store.lease(anyDue('b'))).grants
  assert.deepEqual(b?.orphans_end_in_ms, [])
  valueOf(await store.turn(beginsOf({ lane: held.lane, fence: b.fence }, ids.slice(1, 2))))
  valueOf(await store.release({ owner: 'b', lanes: 'all' }))
  const [c] = valueOf(await store.lease(anyDue('c'))).grants
  assert.deepEqual([c?.fence, c?.orphans_end_in_ms], [b.fence + 1, []])
  assert.deepEqual([...(await rows.deps.database.many(sql`select attempt_id from orphaned_requests`))], [])
})

for (const by of ['turn', 'release'] as const) {
  test(`a note by a ${by} that comes after its breaker was closed by hand keeps nobody from the lane`, async () => {
    const { at, held, store } = await aHeldLane()
    rows.clock.advance(1)
    await rows.switchLane(at, false)
    await rows.switchLane(at, true)
    const note = { serial: 1, memory: breakerOpenFor(60_000) }
    if (by === 'turn') valueOf(await store.turn({ settles: [], begins: [], notes: [{ ...held, ...note }] }))
    valueOf(await store.release({ owner: 'a', lanes: [by === 'turn' ? held : { ...held, note }] }))
    assert.equal(valueOf(await store.lease(anyDue('b'))).grants.length, 1)
  })
}

test('a delivery that is cancelled while it is sent has its request counted by the next owner', async () => {
  const { at, held, ids, store } = await aHeldLane(2)
  valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  rows.clock.advance(15_000)
  await deliveries.cancel(rows.ctx(at), { id: ids[0] ?? '' })
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b')))), [[5_000]])
})

test('what was begun before a lane was switched off is counted when it is switched on, and for the longest timeout there is', async () => {
  const { at, held, ids, store } = await aHeldLane(2)
  valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  rows.clock.advance(1)
  await rows.switchLane(at, false)
  rows.clock.advance(14_999)
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b')))), [])
  await rows.switchLane(at, true)
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b', 2)))), [[50_000]], 'its timeout may have been another one')
})

test('a request that cannot be prepared in the time that others reckon with is not sent', async () => {
  const { held, ids, store } = await aHeldLane()
  const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
  assert.ok(begun)
  const result = await createSender(rows.deps).send(begun, { timeoutMs: 15_000, endsInMs: 0 })
  assert.ok(result.type === 'failure')
  assert.equal(result.error_code, 'timeout')
  assert.match(JSON.stringify(result.evidence), /could not be prepared in time/)
})

test('an attempt that ends while its destination is just being switched on is paused, and resumed by a sweep', async () => {
  const { at, held, ids, store } = await aHeldLane()
  const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
  assert.ok(begun)
  await rows.switchLane(at, false)
  const open = await openTransaction()
  await rows.switchLane(at, true, open.database)
  valueOf(await store.turn({ settles: [settleOf(begun, retryIn(5_000))], begins: [] }))
  await open.commit()
  assert.equal((await rows.delivery(ids[0])).state, 'paused')
  valueOf(await store.lease(anyDue('b')))
  assert.equal((await rows.delivery(ids[0])).state, 'retrying', 'although another owner holds the lane')
})

test('an attempt that ends while its destination is just being switched off waits, and is paused by a sweep', async () => {
  const { at, held, ids, store } = await aHeldLane()
  const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
  assert.ok(begun)
  const open = await openTransaction()
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

test('a delivery that is begun while its destination is just being deleted is cancelled by a sweep, its attempt closed', async () => {
  const { at, held, ids, store } = await aHeldLane(2)
  const open = await openTransaction()
  const [begun] = valueOf(await open.store.turn(beginsOf(held, ids.slice(0, 1)))).begun
  assert.ok(begun)
  await destinations.remove(rows.ctx(at), { id: at.destinationId })
  await open.commit()
  assert.deepEqual(await rows.states(), ['sending', 'cancelled'])
  const late = valueOf(await store.turn({ settles: [settleOf(begun, delivered)], begins: beginsOf(held, ids).begins }))
  assert.deepEqual([late.applied, late.begun, [...late.lost]], [[], [], [held]])
  valueOf(await store.lease(anyDue('b')))
  assert.deepEqual(await rows.states(), ['cancelled', 'cancelled'])
  assert.deepEqual([...(await rows.deps.database.many(sql`select outcome from delivery_attempts`))], [{ outcome: 'interrupted' }])
})

test('a destination can be switched off while turns follow one another in its lane without a pause', async () => {
  const { at, held, ids, store } = await aHeldLane(400)
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

test('a 410 that is settled twice, or under an old fence, does not switch off what was switched on since', async () => {
  const { at, held, ids, store } = await aHeldLane(2)
  const isEnabled = async (): Promise<boolean> => (await rows.deps.database.one<{ enabled: boolean }>(sql`select enabled from destinations where id = ${at.destinationId}`)).enabled
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
  assert.equal(await isEnabled(), true, 'the lane is another owner’s by now')
})

test('two turns that switch destinations off in two workspaces, each in its own order, both commit', async () => {
  const [one, other] = [await rows.aWorkspace(), await rows.aWorkspace()]
  const lanes = [await rows.aLane(one), await rows.aLane(other), await rows.aLane(other), await rows.aLane(one)]
  const store = createPostgresStore(rows.deps)
  const ids = new Map<string, string>()
  for (const lane of lanes) for (const item of await rows.ingest(lane)) ids.set(lane.lane, item.delivery_id)
  const { grants } = valueOf(await store.lease(anyDue('a')))
  const { begun } = valueOf(await store.turn({ settles: [], begins: grants.map(({ lane, fence }) => ({ lane, fence, delivery_id: ids.get(lane) ?? '' })) }))
  const goneOf = (lane: LaneAt) => settleOf(begun.find((sent) => sent.lane === lane.lane) ?? assert.fail('it was not begun'), gone)
  const [first, second, third, fourth] = lanes.map(goneOf)
  assert.ok(first && second && third && fourth)
  const held = Promise.withResolvers<void>()
  const free = Promise.withResolvers<void>()
  const blocker = rows.deps.database.transaction(async (db) => {
    await db.many(sql`select id from projects where workspace_id in (${one.workspaceId}, ${other.workspaceId}) for update`)
    held.resolve()
    await free.promise
  })
  await held.promise
  const turning = Promise.all([store.turn({ settles: [first, second], begins: [] }), store.turn({ settles: [third, fourth], begins: [] })])
  await untilBlocked(2)
  free.resolve()
  await blocker
  assert.deepEqual((await turning).map((turned) => valueOf(turned).applied.length), [2, 2])
})

// What commits leave behind that did not see each other, found by the next sweep

test('a sweep pauses what waits in a lane that is off by now, whether it is due or not', async () => {
  const [off, suspended] = [await rows.aLane(), await rows.aLane()]
  await rows.switchLane(off, false)
  const [routedBefore] = await rows.ingest(off)
  const [waiting] = await rows.ingest(suspended)
  assert.ok(routedBefore && waiting)
  await rows.deps.database.run(sql`update deliveries set next_attempt_at = next_attempt_at + interval '1 hour'`)
  await rows.setSuspended(suspended, true)
  const leased = valueOf(await createPostgresStore(rows.deps).lease(anyDue('a')))
  assert.deepEqual([[...leased.grants], leased.more], [[], false])
  assert.equal((await rows.delivery(routedBefore.delivery_id)).pause_reason, 'destination_disabled')
  assert.equal((await rows.delivery(waiting.delivery_id)).pause_reason, 'workspace_suspended')
})

test('a sweep resumes what was paused for a reason that is gone, also in a lane that somebody holds', async () => {
  const { at, held, store } = await aHeldLane()
  const [routedBefore] = await rows.ingest(at, { pauseReason: 'destination_disabled' })
  const suspended = await rows.aLane()
  const [waiting] = await rows.ingest(suspended)
  assert.ok(routedBefore && waiting)
  await rows.setSuspended(suspended, true)
  valueOf(await store.lease(anyDue('b')))
  assert.equal((await rows.delivery(waiting.delivery_id)).state, 'paused')
  await rows.setSuspended(suspended, false)
  const { grants } = valueOf(await store.lease(anyDue('b', 2)))
  assert.deepEqual(grants.map(({ lane }) => lane), [suspended.lane], 'resumed and granted in one call')
  const { lanes } = valueOf(await store.read({ reads: [{ ...held, limit: 10, exclude: [] }] }))
  assert.ok(lanes[0]?.due.includes(routedBefore.delivery_id))
})

test('a sweep leaves alone what waits for the allowance', async () => {
  const at = await rows.aLane()
  await rows.ingest(at)
  await pauseOutstanding(rows.deps.database, { ...at, reason: 'allowance_used', now: rows.now })
  valueOf(await createPostgresStore(rows.deps).lease(anyDue('a')))
  assert.deepEqual((await rows.deliveries()).map((row) => row.pause_reason), ['allowance_used'])
})

test('a sweep cancels what was routed to a destination that was deleted just then', async () => {
  const at = await rows.aLane()
  await destinations.remove(rows.ctx(at), { id: at.destinationId })
  await rows.ingest(at)
  await rows.ingest(at, { pauseReason: 'destination_disabled' })
  valueOf(await createPostgresStore(rows.deps).lease(anyDue('a')))
  assert.deepEqual(await rows.states(), ['cancelled', 'cancelled'])
})

test('lanes that are off keep no open one from its turn, however small a call is', async () => {
  const workspace = await rows.aWorkspace()
  for (let index = 0; index < 4; index += 1) {
    const at = await rows.aLane(workspace)
    await rows.ingest(at)
    await rows.deps.database.run(sql`update destinations set enabled = false where id = ${at.destinationId}`)
  }
  rows.clock.advance(1_000)
  const open = await rows.aLane(workspace)
  await rows.ingest(open)
  const store = createPostgresStore(rows.deps)
  const granted: string[] = []
  let calls = 0
  for (let more = true; more && calls < 20; calls += 1) {
    const leased = valueOf(await store.lease({ ...anyDue('a', calls + 1), lanes_max: 1 }))
    granted.push(...leased.grants.map(({ lane }) => lane))
    more = leased.more
  }
  assert.deepEqual(granted, [open.lane])
  assert.ok(calls <= 5, 'each call makes progress')
})

test('a backlog is paused, resumed and cancelled in bounded steps: the verb makes the first, the sweeps the rest', async () => {
  const at = await rows.aLane()
  const count = MOVED_ROWS_MAX * 2 + 10
  await rows.ingest(at, { count })
  const store = createPostgresStore(rows.deps)
  const countOf = async (state: string): Promise<number> => (await rows.deliveries()).filter((row) => row.state === state).length
  let serial = 0
  const sweepAll = async (): Promise<number> => {
    for (let calls = 1; calls < 20; calls += 1) {
      serial += 1
      if (!valueOf(await store.lease({ ...anyDue('a', serial), lanes_max: 5 })).more) return calls
    }
    throw new Error('The sweeps never came to an end.')
  }
  await rows.switchLane(at, false)
  assert.equal(await countOf('paused'), MOVED_ROWS_MAX)
  assert.equal(await sweepAll(), 2)
  assert.equal(await countOf('paused'), count)
  await rows.switchLane(at, true)
  assert.equal(await countOf('pending'), MOVED_ROWS_MAX)
  assert.equal(await sweepAll(), 2)
  assert.equal(await countOf('pending'), count)
  await destinations.remove(rows.ctx(at), { id: at.destinationId })
  assert.equal(await countOf('cancelled'), MOVED_ROWS_MAX)
  await sweepAll()
  assert.equal(await countOf('cancelled'), count)
})
