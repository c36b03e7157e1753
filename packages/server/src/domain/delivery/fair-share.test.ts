import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { fairPart, fairShare, NO_OTHERS } from './fair-share.ts'

test('an owner that is alone takes every free lane', () => {
  assert.equal(fairPart({ held: 5, free: 8, others: NO_OTHERS }), 8)
})

test('two owners should have four of eight lanes each, and three owners at most three each', () => {
  assert.equal(fairShare(8, { owners: 1, lanes: 0 }), 4)
  assert.equal(fairShare(8, { owners: 2, lanes: 0 }), 3)
})

test('owners that take their fair parts one after another leave no free lane, and no owner has more than its share', () => {
  const holdings = fc.array(fc.nat(50), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(holdings, fc.nat(200), (before, lanes) => {
      const held = [...before]
      const total = held.reduce((sum, each) => sum + each, lanes)
      let free = lanes
      for (const [index, mine] of held.entries()) {
        const others = { owners: held.length - 1, lanes: total - free - mine }
        const part = fairPart({ held: mine, free, others })
        held[index] = mine + part
        free -= part
        if (part > 0) assert.ok(held[index] <= fairShare(total, { owners: held.length - 1, lanes: 0 }))
      }
      assert.equal(free, 0)
    }),
  )
})
