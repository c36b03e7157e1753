import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPostgresStore } from '../../src/pipeline/deliver/postgres-store.ts'
import { sql } from '../../src/platform/db.ts'
import { MOVED_ROWS_MAX, pauseOutstanding } from '../../src/resources/delivery/deliveries/queries.ts'
import { destinations } from '../../src/resources/delivery/destinations/index.ts'
import { anyDue, valueOf, type StoreRows } from '../stage/store-rows.ts'
import { onStoreStage, type StoreStage } from '../stage/store-stage.ts'

let rows: StoreRows
let stage: StoreStage

onStoreStage((made) => {
  ;({ rows, stage } = made)
})

// States that concurrent commits leave behind, and that the next sweep repairs

test('a sweep pauses the waiting deliveries of a lane that was disabled, whether they are due or not', async () => {
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

test('a sweep resumes deliveries that were paused for a cause that has ended, also in a lane with an owner', async () => {
  const { at, held, store } = await stage.aLeasedLane()
  const [routedBefore] = await rows.ingest(at, { pauseReason: 'destination_disabled' })
  const suspended = await rows.aLane()
  const [waiting] = await rows.ingest(suspended)
  assert.ok(routedBefore && waiting)
  await rows.setSuspended(suspended, true)
  valueOf(await store.lease(anyDue('b')))
  assert.equal((await rows.delivery(waiting.delivery_id)).state, 'paused')
  await rows.setSuspended(suspended, false)
  const { grants } = valueOf(await store.lease(anyDue('b', 2)))
  assert.deepEqual(
    grants.map(({ lane }) => lane),
    [suspended.lane],
    'resumed and granted in one call',
  )
  const { lanes } = valueOf(await store.read({ reads: [{ ...held, limit: 10, exclude: [] }] }))
  assert.ok(lanes[0]?.due.includes(routedBefore.delivery_id))
})

test('a sweep leaves deliveries alone that wait for the allowance', async () => {
  const at = await rows.aLane()
  await rows.ingest(at)
  await pauseOutstanding(rows.deps.database, { ...at, reason: 'allowance_used', now: rows.now })
  valueOf(await createPostgresStore(rows.deps).lease(anyDue('a')))
  assert.deepEqual(
    (await rows.deliveries()).map((row) => row.pause_reason),
    ['allowance_used'],
  )
})

test('a sweep cancels deliveries that were routed to a destination during its deletion', async () => {
  const at = await rows.aLane()
  await destinations.remove(rows.ctx(at), { id: at.destinationId })
  await rows.ingest(at)
  await rows.ingest(at, { pauseReason: 'destination_disabled' })
  valueOf(await createPostgresStore(rows.deps).lease(anyDue('a')))
  assert.deepEqual(await rows.states(), ['cancelled', 'cancelled'])
})

test('disabled lanes never prevent the grant of an enabled lane, however small the batch of a call is', async () => {
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

test('a backlog is paused, resumed and canceled in bounded steps: the request makes the first step, and the sweeps make the others', async () => {
  const at = await rows.aLane()
  const count = MOVED_ROWS_MAX * 2 + 10
  await rows.ingest(at, { count })
  const store = createPostgresStore(rows.deps)
  const countOf = async (state: string): Promise<number> =>
    (await rows.deliveries()).filter((row) => row.state === state).length
  let serial = 0
  const sweepAll = async (): Promise<number> => {
    for (let calls = 1; calls < 20; calls += 1) {
      serial += 1
      if (!valueOf(await store.lease({ ...anyDue('a', serial), lanes_max: 5 })).more) return calls
    }
    throw new Error('The sweeps never ended.')
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

test('two owners that sweep one after the other get four of eight lanes each, although neither has a lane yet', async () => {
  for (let lane = 0; lane < 8; lane += 1) await rows.ingest(await rows.aLane(), { count: 1 })
  const store = createPostgresStore(rows.deps)
  const share = { held: 0, avoid: [], fairly: true }
  valueOf(await store.lease({ ...anyDue('b'), any_due: false }))
  const a = valueOf(await store.lease({ ...anyDue('a'), share }))
  assert.deepEqual([a.grants.length, a.left, a.more, a.others], [4, true, false, { owners: 1, lanes: 0 }])
  const b = valueOf(await store.lease({ ...anyDue('b', 2), share }))
  assert.deepEqual([b.grants.length, b.left, b.others], [4, false, { owners: 1, lanes: 4 }])
})

test('an owner takes all lanes when it is alone, and the remaining lanes when it no longer asks for only its fair share', async () => {
  for (let lane = 0; lane < 8; lane += 1) await rows.ingest(await rows.aLane(), { count: 1 })
  const store = createPostgresStore(rows.deps)
  const share = { held: 0, avoid: [], fairly: true }
  valueOf(await store.lease({ ...anyDue('b'), any_due: false }))
  assert.equal(valueOf(await store.lease({ ...anyDue('a'), share })).grants.length, 4)
  const rest = await store.lease({ ...anyDue('a', 2), share: { ...share, held: 4, fairly: false } })
  assert.equal(valueOf(rest).grants.length, 4)
  rows.clock.advance(16_000)
  assert.equal(valueOf(await store.lease({ ...anyDue('c'), share })).grants.length, 8)
})

test('when all other owners left lanes in their last sweep, an owner takes every lane that it finds', async () => {
  for (let lane = 0; lane < 4; lane += 1) await rows.ingest(await rows.aLane(), { count: 1 })
  const store = createPostgresStore(rows.deps)
  // Each owner assumes that the others have fewer lanes than it has.
  const share = { held: 9, avoid: [], fairly: true }
  for (const owner of ['b', 'c']) valueOf(await store.lease({ ...anyDue(owner), any_due: false }))
  const a = valueOf(await store.lease({ ...anyDue('a'), share }))
  assert.deepEqual([a.grants.length, a.left], [0, true])
  const b = valueOf(await store.lease({ ...anyDue('b', 2), share: { ...share, held: 20 } }))
  assert.deepEqual([b.grants.length, b.left], [0, true])
  const c = valueOf(await store.lease({ ...anyDue('c', 2), share: { ...share, held: 99 } }))
  assert.deepEqual([c.grants.length, c.left], [4, false])
})

test('an owner is not granted the lanes that it avoids, whether it names them or not', async () => {
  const [one, two] = [await rows.aLane(), await rows.aLane()]
  for (const lane of [one, two]) await rows.ingest(lane, { count: 1 })
  const store = createPostgresStore(rows.deps)
  const share = { held: 0, avoid: [one.lane], fairly: false }
  const named = valueOf(await store.lease({ ...anyDue('a'), any_due: false, wanted: [one.lane], share }))
  assert.deepEqual(named.grants, [])
  const swept = valueOf(await store.lease({ ...anyDue('a', 2), share }))
  assert.deepEqual(
    swept.grants.map(({ lane }) => lane),
    [two.lane],
  )
  assert.equal(valueOf(await store.lease(anyDue('a', 3))).grants[0]?.lane, one.lane)
})
