import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, Bench, find, SETTINGS } from '../../../test/stage/machine-bench.ts'
import type { LaneSettings } from './ports.ts'

/** A machine that owns the lane `a`, in which nothing waits. */
function owner(settings: LaneSettings = SETTINGS, due: readonly string[] = []): Bench {
  const bench = new Bench()
  bench.settings = settings
  bench.begin({ a: due }, settings)
  return bench
}

const startsOf = (bench: Bench, ...ids: readonly string[]) =>
  bench.machine.arriving(
    ids.map((delivery_id) => ({ lane: 'a', delivery_id })),
    bench.now,
  )

const begunIn = (bench: Bench, ...ids: readonly string[]): readonly string[] =>
  startsOf(bench, ...ids)?.begins.map(({ delivery_id }) => delivery_id) ?? []

test('a new delivery starts with its commit under the fence of its lane, and its request leaves after the answer', () => {
  const bench = owner()
  const first = startsOf(bench, 'a1')
  assert.deepEqual(first?.begins, [{ lane: 'a', fence: 1, delivery_id: 'a1' }])
  assert.equal(bench.sent.length, 0)
  const effects = bench.commit({ type: 'turn', op: first.op, input: { settles: [], begins: first.begins } })
  assert.deepEqual(
    bench.sent.map(({ delivery_id }) => delivery_id),
    ['a1'],
  )
  assert.deepEqual(all(effects, 'read').length + all(effects, 'turn').length, 0)
  const settled = find(bench.respond('a1#1'), 'turn')
  assert.deepEqual(
    settled.input.settles.map(({ next }) => next),
    ['delivered'],
  )
})

test('commits start no more deliveries than the destination may have in flight', () => {
  const bench = owner()
  assert.deepEqual(begunIn(bench, 'a1', 'a2', 'a3'), ['a1', 'a2'])
  assert.deepEqual(begunIn(bench, 'a4'), [])
})

test('no commit starts a delivery in a lane that is not owned, has an order or a rate limit, or in which others wait', () => {
  const bench = owner()
  assert.equal(bench.machine.arriving([{ lane: 'b', delivery_id: 'b1' }], bench.now), undefined)
  assert.deepEqual(begunIn(owner({ ...SETTINGS, ordered: true }), 'a1'), [])
  assert.deepEqual(begunIn(owner({ ...SETTINGS, rate_limit: { count: 5, per_ms: 1_000 } }), 'a1'), [])
  assert.deepEqual(begunIn(owner({ ...SETTINGS, max_in_flight: 3 }, ['w1', 'w2', 'w3', 'w4']), 'a1'), [])
})

test('no commit starts a delivery after a notice that the destination is off, or after the process was asked to stop', () => {
  const off = owner()
  off.dispatch({ type: 'disabled', lanes: ['a'] })
  assert.deepEqual(begunIn(off, 'a1'), [])
  const stopping = owner()
  stopping.dispatch({ type: 'stop' })
  assert.deepEqual(begunIn(stopping, 'a1'), [])
})

test('a refused commit frees its slots, and the delivery is not started again, because it does not exist', () => {
  const bench = owner()
  const first = startsOf(bench, 'a1', 'a2')
  assert.ok(first)
  const effects = bench.dispatch({ type: 'turned', op: first.op, answer: { outcome: 'refused' } })
  assert.deepEqual(all(effects, 'turn'), [])
  bench.now += 500
  bench.dispatch({ type: 'woke' })
  assert.deepEqual(all(bench.log, 'turn'), [])
  assert.deepEqual(begunIn(bench, 'a3', 'a4'), ['a3', 'a4'])
})

test('after a commit with an unknown outcome the lane is given back, so that a new fence recovers what may have started', () => {
  const bench = owner()
  const first = startsOf(bench, 'a1')
  assert.ok(first)
  bench.dispatch({ type: 'turned', op: first.op, answer: { outcome: 'unknown' } })
  bench.now += 1_000
  const release = find(bench.dispatch({ type: 'woke' }), 'release')
  assert.deepEqual(release.input.lanes, [{ lane: 'a', fence: 1 }])
  assert.deepEqual(begunIn(bench, 'a2'), [])
})

test('a delivery whose fence the commit could not prove is not sent', () => {
  const bench = owner()
  const first = startsOf(bench, 'a1')
  assert.ok(first)
  bench.dispatch({
    type: 'turned',
    op: first.op,
    answer: { outcome: 'done', value: { begun: [], applied: [], paused: [], lost: [] } },
  })
  assert.equal(bench.sent.length, 0)
  assert.deepEqual(begunIn(bench, 'a2', 'a3'), ['a2', 'a3'])
})

test('a commit whose answer comes too late ends its attempt as interrupted instead of sending it', () => {
  const bench = owner()
  const first = startsOf(bench, 'a1')
  assert.ok(first)
  bench.now += 4_000
  const effects = bench.commit({ type: 'turn', op: first.op, input: { settles: [], begins: first.begins } })
  assert.equal(bench.sent.length, 0)
  assert.deepEqual(
    find(effects, 'turn').input.settles.map(({ outcome, next }) => [outcome, next]),
    [['interrupted', 'retrying']],
  )
})
