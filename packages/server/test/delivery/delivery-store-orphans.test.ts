import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Leased } from '../../src/pipeline/deliver/ports.ts'
import { createSender } from '../../src/pipeline/deliver/send.ts'
import { sql } from '../../src/platform/db.ts'
import { deliveries } from '../../src/resources/delivery/deliveries/index.ts'
import { anyDue, valueOf, type StoreRows } from '../stage/store-rows.ts'
import { beginsOf, onStoreStage, type StoreStage } from '../stage/store-stage.ts'
import { breakerOpenFor } from '../stage/store-step.ts'

let rows: StoreRows
let stage: StoreStage

onStoreStage((made) => {
  ;({ rows, stage } = made)
})

const orphansOf = ({ grants }: Leased): readonly (readonly number[])[] =>
  grants.map((grant) => grant.orphans_end_in_ms.toSorted((a, b) => a - b))

test('a new owner of a lane learns how long the requests of the previous owner can be under way, also when the answer of the first grant was lost', async () => {
  const { held, ids, store } = await stage.aLeasedLane(3)
  assert.equal(valueOf(await store.turn(beginsOf(held, ids.slice(0, 1)))).begun.length, 1)
  rows.clock.advance(3_000)
  assert.equal(valueOf(await store.turn(beginsOf(held, ids.slice(1, 2)))).begun.length, 1)
  rows.clock.advance(12_000)
  // Each request can leave 5 s after its start, and end 15 s after that.
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b')))), [[5_000, 8_000]])
  rows.clock.advance(1_000)
  const again = valueOf(await store.lease({ ...anyDue('b', 2), doubtful_from: 1 }))
  assert.deepEqual(orphansOf(again), [[4_000, 7_000]], 'recovered by the previous grant, and known to the next one')
  valueOf(await store.release({ owner: 'b', lanes: 'all' }))
  rows.clock.advance(4_000)
  assert.deepEqual(
    orphansOf(valueOf(await store.lease(anyDue('c')))),
    [[3_000]],
    'one has ended, and the owner in between reported nothing about them',
  )
})

test('an owner that releases a lane, or reports its own end, leaves nothing under way in it', async () => {
  const { held, ids, store } = await stage.aLeasedLane(3)
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
  test(`a note by a ${by} that comes after the breaker was closed manually excludes no owner from the lane`, async () => {
    const { at, held, store } = await stage.aLeasedLane()
    rows.clock.advance(1)
    await rows.switchLane(at, false)
    await rows.switchLane(at, true)
    const note = { serial: 1, memory: breakerOpenFor(60_000) }
    if (by === 'turn') valueOf(await store.turn({ settles: [], begins: [], notes: [{ ...held, ...note }] }))
    valueOf(await store.release({ owner: 'a', lanes: [by === 'turn' ? held : { ...held, note }] }))
    assert.equal(valueOf(await store.lease(anyDue('b'))).grants.length, 1)
  })
}

test('the next owner counts the request of a delivery that was canceled while it was under way', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(2)
  valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  rows.clock.advance(15_000)
  await deliveries.cancel(rows.ctx(at), { id: ids[0] ?? '' })
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b')))), [[5_000]])
})

test('a request that was begun before its lane was disabled counts once the lane is enabled, for the longest possible timeout', async () => {
  const { at, held, ids, store } = await stage.aLeasedLane(2)
  valueOf(await store.turn(beginsOf(held, ids.slice(0, 1))))
  rows.clock.advance(1)
  await rows.switchLane(at, false)
  rows.clock.advance(14_999)
  assert.deepEqual(orphansOf(valueOf(await store.lease(anyDue('b')))), [])
  await rows.switchLane(at, true)
  assert.deepEqual(
    orphansOf(valueOf(await store.lease(anyDue('b', 2)))),
    [[50_000]],
    'its timeout may have been different',
  )
})

test('a request that cannot be prepared in the time that other owners expect is not sent', async () => {
  const { held, ids, store } = await stage.aLeasedLane()
  const [begun] = valueOf(await store.turn(beginsOf(held, ids))).begun
  assert.ok(begun)
  const result = await createSender(rows.deps).send(begun, { timeoutMs: 15_000, endsInMs: 0 })
  assert.ok(result.type === 'failure')
  assert.equal(result.error_code, 'timeout')
  assert.match(JSON.stringify(result.evidence), /could not prepare the request in time/)
})
