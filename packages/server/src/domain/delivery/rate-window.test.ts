import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RateWindow } from './rate-window.ts'

test('the first sends, up to the limit, go immediately, and the next one goes when the first is a period old', () => {
  const limit = { count: 3, per_ms: 1_000 }
  const window = new RateWindow()
  for (const now of [0, 10, 20]) {
    assert.equal(window.freeAt(limit, { pending: 0, now }), now)
    window.sent(limit, now)
  }
  assert.equal(window.freeAt(limit, { pending: 0, now: 30 }), 1_000)
  assert.equal(window.freeAt(limit, { pending: 1, now: 30 }), 1_010)
  assert.equal(window.freeAt(limit, { pending: 3, now: 30 }), Infinity)
  assert.equal(window.freeAt(limit, { pending: 0, now: 1_000 }), 1_000)
})

test('a request that may not have been sent counts from the handover', () => {
  const limit = { count: 2, per_ms: 1_000 }
  const previous = new RateWindow()
  previous.sent(limit, 0)
  const window = RateWindow.recall(previous.memory(1, 500), 700)
  assert.equal(window.freeAt(limit, { pending: 0, now: 700 }), 1_200)
  assert.equal(window.freeAt(limit, { pending: 1, now: 700 }), 1_700)
})

test('no period ever has more sends than the limit, for any limit, demand and handovers', () => {
  const limits = fc.record({ count: fc.integer({ min: 1, max: 500 }), per_ms: fc.constantFrom(1_000, 60_000) })
  const waits = fc.array(fc.tuple(fc.oneof(fc.nat(5), fc.nat(400)), fc.nat(9)), {
    minLength: 600,
    maxLength: 1_000,
    size: 'max',
  })
  fc.assert(
    fc.property(limits, waits, (limit, steps) => {
      let window = new RateWindow()
      let now = 0
      const sentAt: number[] = []
      for (const [waitMs, what] of steps) {
        now += waitMs
        if (what === 0) window = RateWindow.recall(window.memory(0, now), now)
        // Only a few at a time, so that the sends of one group differ in age.
        for (let left = what; left > 0 && window.freeAt(limit, { pending: 0, now }) <= now; left -= 1) {
          window.sent(limit, now)
          sentAt.push(now)
        }
      }
      for (const [index, at] of sentAt.entries()) {
        const after = sentAt[index + limit.count]
        assert.ok(
          after === undefined || after - at >= limit.per_ms,
          `${limit.count + 1} within ${Number(after) - at} ms`,
        )
      }
      assert.ok(sentAt.length > 0 || steps.every(([, what]) => what === 0))
    }),
    { numRuns: 50 },
  )
})
