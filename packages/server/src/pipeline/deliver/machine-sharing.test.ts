import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DELIVER_LIMITS } from './limits.ts'
import { NO_OTHERS, type Others } from '../../domain/delivery/fair-share.ts'
import type { Effect } from './ports.ts'
import { type EffectOf, leasedOf, Bench, all, find } from '../../../test/stage/machine-bench.ts'

// Lanes are shared with other owners

const ONE_IDLE: Others = { owners: 1, lanes: 0 }
const AT_ONCE = { heldMsMin: 0, overShareByOneMs: 0, workingMs: 60_000 }

/** Runs the machine's next sweep, in which the store reports `others` as the other owners. */
function sweep(bench: Bench, others: Others): Effect[] {
  bench.now += DELIVER_LIMITS.sweepMs
  const { op } = find(bench.dispatch({ type: 'woke' }), 'lease')
  return bench.dispatch({ type: 'leased', op, answer: { outcome: 'done', value: leasedOf([], others) } })
}

function released(bench: Bench, { op }: EffectOf<'release'>): Effect[] {
  return bench.dispatch({ type: 'released', op, answer: { outcome: 'done', value: null } })
}

test('an owner that has more than its share for two sweeps hands the surplus over, and a hint does not make it take them back', () => {
  const bench = new Bench({ heldMsMin: 0, workingMs: 60_000 })
  bench.begin({ a: [], b: [], c: [], d: [] })
  assert.deepEqual(all(sweep(bench, ONE_IDLE), 'release'), [])
  const release = find(sweep(bench, ONE_IDLE), 'release')
  assert.deepEqual(release.offered, ['a', 'b'])
  released(bench, release)
  assert.equal(bench.machine.load.lanes, 2)
  assert.deepEqual(all(bench.dispatch({ type: 'hinted', lanes: ['a', 'b'] }), 'lease'), [])
  bench.now += DELIVER_LIMITS.sweepMs
  const { input } = find(bench.dispatch({ type: 'woke' }), 'lease')
  assert.deepEqual([input.wanted, input.share], [[], { held: 2, avoid: ['a', 'b'], fairly: true }])
})

test('an owner without other owners does not hand over any lane', () => {
  const bench = new Bench({ heldMsMin: 0, workingMs: 60_000 })
  bench.begin({ a: [], b: [], c: [], d: [] })
  for (let round = 0; round < 3; round += 1) assert.deepEqual(all(sweep(bench, NO_OTHERS), 'release'), [])
})

test('a lane is handed over when its requests have ended, and starts nothing meanwhile', () => {
  const bench = new Bench(AT_ONCE)
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'], b: ['b1', 'b2', 'b3'] }), 'turn'))
  assert.deepEqual(all(sweep(bench, ONE_IDLE), 'release'), [])
  const effects = ['a1#1', 'a2#1']
    .flatMap((id) => bench.respond(id))
    .flatMap((effect) => (effect.type === 'turn' ? bench.commit(effect) : []))
  assert.deepEqual(find([...effects, ...bench.dispatch({ type: 'woke' })], 'release').offered, ['a'])
  assert.deepEqual(
    bench.sent.map(({ delivery_id }) => delivery_id),
    ['a1', 'b1', 'a2', 'b2'],
  )
})

test('a lane whose requests do not end in time is not handed over and continues', () => {
  const bench = new Bench(AT_ONCE)
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'], b: ['b1', 'b2', 'b3'] }), 'turn'))
  sweep(bench, ONE_IDLE)
  bench.now += DELIVER_LIMITS.handOverMs
  const woken = bench.dispatch({ type: 'woke' })
  assert.deepEqual(all(woken, 'release'), [])
  bench.answerReads(all(bench.log, 'read').slice(-1), { a: ['a3'] })
  const turn = find(bench.respond('a1#1'), 'turn')
  assert.deepEqual(
    turn.input.begins.map(({ delivery_id }) => delivery_id),
    ['a3'],
  )
})

test('a lane that is paused during its handover is not offered to other owners, however long its requests take', () => {
  const bench = new Bench(AT_ONCE)
  bench.commit(find(bench.begin({ a: ['a1', 'a2'], b: ['b1', 'b2'] }), 'turn'))
  sweep(bench, ONE_IDLE)
  bench.dispatch({ type: 'disabled', lanes: ['a', 'b'] })
  bench.now += DELIVER_LIMITS.handOverMs
  bench.dispatch({ type: 'woke' })
  const effects = ['a1#1', 'a2#1', 'b1#1', 'b2#1']
    .flatMap((id) => bench.respond(id))
    .flatMap((effect) => (effect.type === 'turn' ? bench.commit(effect) : []))
  assert.deepEqual(
    all([...effects, ...bench.log], 'release').flatMap(({ offered }) => offered),
    [],
  )
})

test('an owner that has its share leaves a hinted lane to the others for a moment, and takes it if they do not', () => {
  const bench = new Bench()
  bench.begin({ a: [], b: [] })
  sweep(bench, ONE_IDLE)
  assert.deepEqual(all(bench.dispatch({ type: 'hinted', lanes: ['c'] }), 'lease'), [])
  bench.now += DELIVER_LIMITS.othersFirstMs
  assert.deepEqual(find(bench.dispatch({ type: 'woke' }), 'lease').input.wanted, ['c'])
})

test('an owner takes as many offered lanes as it lacks, and takes the rest if the others do not', () => {
  const bench = new Bench()
  const lease = find(bench.dispatch({ type: 'woke' }), 'lease')
  bench.dispatch({
    type: 'leased',
    op: lease.op,
    answer: { outcome: 'done', value: leasedOf([], { owners: 1, lanes: 4 }) },
  })
  const first = find(bench.dispatch({ type: 'offered', lanes: ['a', 'b', 'c'] }), 'lease')
  assert.equal(first.input.wanted.length, 2)
  bench.dispatch({ type: 'leased', op: first.op, answer: { outcome: 'done', value: leasedOf([], ONE_IDLE) } })
  bench.now += DELIVER_LIMITS.othersFirstMs
  const rest = find(bench.dispatch({ type: 'woke' }), 'lease')
  assert.deepEqual([...first.input.wanted, ...rest.input.wanted].toSorted(), ['a', 'b', 'c'])
})
