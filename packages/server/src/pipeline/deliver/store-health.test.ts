import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreHealth } from './store-health.ts'
import type { StoreCall } from './ports.ts'

const read = (op: number): StoreCall => ({ type: 'read', op, input: { reads: [] } })
const turn = (op: number): StoreCall => ({ type: 'turn', op, input: { settles: [], begins: [] } })

test('a call that fails again and again counts as stalled since its first attempt', () => {
  const health = new StoreHealth(20_000)
  for (let op = 0; op < 30; op += 1) {
    health.asked(turn(op), op * 1_000)
    health.answered(op, { done: false, now: op * 1_000 + 100 })
  }
  assert.equal(health.stalled(19_900), undefined)
  assert.deepEqual(health.stalled(29_500), { call: 'turn', since: 0 })
  health.asked(turn(30), 30_000)
  health.answered(30, { done: true, now: 30_100 })
  assert.equal(health.stalled(60_000), undefined)
})

test('the success of another call does not end a stall', () => {
  const health = new StoreHealth(20_000)
  for (let op = 0; op < 60; op += 2) {
    health.asked(turn(op), op * 500)
    health.answered(op, { done: false, now: op * 500 })
    health.asked(read(op + 1), op * 500)
    health.answered(op + 1, { done: true, now: op * 500 })
  }
  assert.deepEqual(health.stalled(29_500), { call: 'turn', since: 0 })
})

test('a call that gets no answer is stalled', () => {
  const health = new StoreHealth(20_000)
  health.asked(read(1), 0)
  assert.deepEqual(health.stalled(20_000), { call: 'read', since: 0 })
})

test('a call that failed and was not needed again is not stalled, and its next failure counts from the start', () => {
  const health = new StoreHealth(20_000)
  health.asked(read(1), 0)
  health.answered(1, { done: false, now: 100 })
  assert.equal(health.stalled(60_000), undefined)
  health.asked(read(2), 100_000)
  health.answered(2, { done: false, now: 100_100 })
  assert.equal(health.stalled(110_000), undefined)
})
