import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Breaker, BREAKER_NEXT, BREAKER_STATES } from './breaker.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** A breaker at a clock that the test sets. */
class Bench {
  breaker = new Breaker()
  now = 1_000_000

  end(succeeded: boolean, { probe = false, maxInFlight = 10 } = {}): boolean {
    return this.breaker.ended({ succeeded, probe, maxInFlight, now: this.now })
  }

  fail(times: number): this {
    for (let time = 0; time < times; time += 1) this.end(false)
    return this
  }

  /** Waits for the probe, and returns how long that took. */
  probe(succeeded: boolean, maxInFlight = 10): number {
    const until = this.breaker.waitsUntil(this.now)
    assert.ok(until !== null)
    assert.equal(this.breaker.room(until - 1), 0)
    const waitedMs = until - this.now
    this.now = until
    assert.equal(this.breaker.room(this.now), 1)
    this.breaker.probe()
    assert.equal(this.breaker.room(this.now), 1)
    this.end(succeeded, { probe: true, maxInFlight })
    return waitedMs
  }

  handOver(): this {
    this.breaker = Breaker.recall(this.breaker.memory(this.now), this.now)
    return this
  }
}

test('the page about its states matches the table in code', () => {
  const page = readFileSync(new URL('../../../../../docs/states/breaker.md', import.meta.url), 'utf8')
  for (const state of BREAKER_STATES)
    assert.ok(page.includes(`| ${state} | ${BREAKER_NEXT[state].join(', ')} |\n`), state)
})

test('the breaker opens after ten failures in a row, and not after nine with a success in between', () => {
  const bench = new Bench().fail(9)
  bench.end(true)
  bench.fail(9)
  assert.equal(bench.breaker.state, 'closed')
  assert.equal(bench.end(false), true)
  assert.equal(bench.breaker.state, 'open')
})

test('the breaker opens when half of twenty attempts in five minutes failed, and older attempts do not count', () => {
  const bench = new Bench()
  const half = (times: number): void => {
    for (let time = 0; time < times; time += 1) bench.end(time % 2 === 0)
  }
  half(19)
  assert.equal(bench.breaker.state, 'closed')
  bench.now += 6 * MINUTE_MS
  half(19)
  assert.equal(bench.breaker.state, 'closed')
  bench.end(false)
  assert.equal(bench.breaker.state, 'open')
})

test('nine failures in twenty-one attempts leave it closed', () => {
  const bench = new Bench()
  for (let time = 0; time < 12; time += 1) bench.end(true)
  bench.fail(9)
  assert.equal(bench.breaker.state, 'closed')
})

test('the first probe goes after 30 s, and the wait doubles up to 300 s while probes fail', () => {
  const bench = new Bench().fail(10)
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map(() => bench.probe(false) / 1_000),
    [30, 60, 120, 240, 300, 300],
  )
})

test("a successful probe lets two requests through, then one more for each success, up to the destination's limit", () => {
  const bench = new Bench().fail(10)
  bench.probe(true, 4)
  assert.deepEqual([bench.breaker.state, bench.breaker.room(bench.now)], ['recovering', 2])
  bench.end(true, { maxInFlight: 4 })
  assert.equal(bench.breaker.room(bench.now), 3)
  bench.end(false, { maxInFlight: 4 })
  assert.equal(bench.breaker.room(bench.now), 1)
  for (let time = 0; time < 3; time += 1) bench.end(true, { maxInFlight: 4 })
  assert.deepEqual([bench.breaker.state, bench.breaker.room(bench.now)], ['closed', Infinity])
})

test('the wait doubles when the breaker opens again before it has closed, and is the shortest when it opens from closed', () => {
  const bench = new Bench().fail(10)
  bench.probe(false)
  bench.probe(true)
  bench.fail(10)
  assert.equal(bench.probe(true) / 1_000, 120)
  for (let time = 0; time < 10; time += 1) bench.end(true)
  assert.equal(bench.breaker.state, 'closed')
  bench.fail(10)
  assert.equal(bench.probe(false) / 1_000, 30)
})

test('a failed probe continues the outage, and failures after a successful probe start a new one', () => {
  const bench = new Bench().fail(10)
  const openMs = (): number | null | undefined => bench.breaker.memory(bench.now)?.opened_ms
  const waited = bench.probe(false)
  assert.equal(openMs(), waited)
  bench.probe(true)
  bench.now += HOUR_MS
  bench.fail(10)
  assert.deepEqual([bench.breaker.state, openMs()], ['open', 0])
})

test('a request that started before the breaker opened and succeeds later does not close it', () => {
  const bench = new Bench().fail(10)
  assert.equal(bench.end(true), false)
  assert.equal(bench.breaker.state, 'open')
})

test('the breaker is hopeless after 120 hours without a success, and a success restarts the count', () => {
  const bench = new Bench().fail(1)
  bench.now += 120 * HOUR_MS - 1
  assert.equal(bench.breaker.hopeless(bench.now), false)
  bench.now += 1
  assert.equal(bench.breaker.hopeless(bench.now), true)
  bench.end(true)
  bench.fail(1)
  assert.equal(bench.breaker.hopeless(bench.now), false)
})

test('after a handover the breaker continues with its counts, its wait and its cap', () => {
  const bench = new Bench().fail(6).handOver().fail(3)
  assert.equal(bench.breaker.state, 'closed')
  bench.handOver().fail(1)
  assert.equal(bench.breaker.state, 'open')
  bench.now += 10_000
  assert.equal(bench.handOver().probe(false), 20_000)
  assert.equal(bench.handOver().probe(true), 60_000)
  assert.equal(bench.handOver().breaker.room(bench.now), 2)
})

test('the next owner repeats an interrupted probe immediately', () => {
  const bench = new Bench().fail(10)
  bench.now += 30_000
  bench.breaker.probe()
  bench.handOver()
  assert.deepEqual([bench.breaker.state, bench.breaker.room(bench.now)], ['open', 1])
})

test('a healthy breaker has nothing to persist', () => {
  const bench = new Bench()
  bench.end(true)
  assert.equal(bench.breaker.memory(bench.now), null)
  bench.fail(1)
  assert.notEqual(bench.breaker.memory(bench.now), null)
  bench.end(true)
  bench.now += 5 * MINUTE_MS
  assert.equal(bench.breaker.memory(bench.now), null)
})
