import assert from 'node:assert/strict'
import { test } from 'node:test'
import { all, Bench, find, SETTINGS } from '../../../test/stage/machine-bench.ts'
import { DELIVER_LIMITS } from './limits.ts'
import type { Effect } from './ports.ts'

const WAIT_MS = DELIVER_LIMITS.settleWaitMs

/** A machine whose successful results wait for each other, with a request under way for each of these deliveries of lane `a`. */
function sending(deliveries: readonly string[], settings = SETTINGS): Bench {
  const bench = new Bench({ settleWaitMs: WAIT_MS })
  bench.settings = { ...settings, max_in_flight: 1_000 }
  bench.commit(find(bench.begin({ a: deliveries }, bench.settings), 'turn'))
  assert.equal(bench.sent.length, deliveries.length)
  return bench
}

const settledIn = (effects: readonly Effect[]) =>
  all(effects, 'turn').map(({ input }) => input.settles.map(({ delivery_id }) => delivery_id))

test('successful results wait for each other, and one turn settles them when the first has waited long enough', () => {
  const bench = sending(['a1', 'a2', 'a3'])
  const effects = bench.respond('a1#1')
  assert.deepEqual(settledIn(effects), [])
  assert.equal(find(effects, 'sleep').until, WAIT_MS)
  bench.now = WAIT_MS - 1
  assert.deepEqual(settledIn(bench.respond('a2#1')), [])
  bench.now = WAIT_MS
  assert.deepEqual(settledIn(bench.dispatch({ type: 'woke' })), [['a1', 'a2']])
})

test('a failure is settled immediately, and takes along the results that wait', () => {
  const bench = sending(['a1', 'a2'])
  bench.respond('a1#1')
  const failed = bench.respond('a2#1', { type: 'failure', error_code: 'timeout' })
  assert.deepEqual(settledIn(failed), [['a1', 'a2']])
})

test('the next delivery of a key waits for nothing but the commit of the one before', () => {
  assert.deepEqual(settledIn(sending(['a1'], { ...SETTINGS, ordered: true }).respond('a1#1')), [['a1']])
})

test('a turn that starts deliveries settles the results that wait', () => {
  const bench = new Bench({ settleWaitMs: WAIT_MS })
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  assert.deepEqual(settledIn(bench.respond('a1#1')), [['a1']])
})

test('enough results go to the store before the first has waited long enough', () => {
  const ids = Array.from({ length: DELIVER_LIMITS.turnItemsMin }, (_, index) => `a${index}`)
  const bench = sending(ids)
  const effects = ids.flatMap((id) => bench.respond(`${id}#1`))
  assert.deepEqual(settledIn(effects), [ids])
})

test('a process that ends settles what it knows immediately', () => {
  const bench = sending(['a1', 'a2'])
  bench.respond('a1#1')
  assert.deepEqual(settledIn(bench.dispatch({ type: 'stop' })), [['a1']])
  assert.deepEqual(settledIn(bench.respond('a2#1')), [['a2']])
})

test('results that the store refused are sent again without another wait', () => {
  const bench = sending(['a1'])
  bench.respond('a1#1')
  bench.now = WAIT_MS
  const { op } = find(bench.dispatch({ type: 'woke' }), 'turn')
  const refused = bench.dispatch({ type: 'turned', op, answer: { outcome: 'refused' } })
  bench.now = find(refused, 'sleep').until
  assert.deepEqual(settledIn(bench.dispatch({ type: 'woke' })), [['a1']])
})

test('results that have waited long enough for others, and wait for turns under way, do not wake the machine', () => {
  const bench = sending(['a1', 'a2', 'a3', 'a4'])
  const fails = (id: string) => bench.respond(`${id}#1`, { type: 'failure', error_code: 'timeout' })
  const [first] = all(fails('a1'), 'turn')
  fails('a2')
  bench.respond('a3#1')
  bench.now = WAIT_MS
  const woken = bench.dispatch({ type: 'woke' })
  assert.deepEqual(settledIn(woken), [])
  assert.ok(all(woken, 'sleep').every(({ until }) => until > bench.now))
  assert.ok(first)
  assert.deepEqual(settledIn(bench.commit(first)), [['a3']])
})
