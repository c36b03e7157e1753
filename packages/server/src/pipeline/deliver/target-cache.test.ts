import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TARGET_KEPT_MS, TargetCache } from './target-cache.ts'

const cache = (): TargetCache<string, null> => new TargetCache<string, null>()

test('a cached read is used for a second, counted from before the read started', () => {
  const targets = cache()
  const reading = targets.begin('a', { now: 1_000, waiting: null })
  targets.ended(reading, 'read')
  assert.equal(targets.find('a', 1_000 + TARGET_KEPT_MS - 1)?.done?.target, 'read')
  assert.equal(targets.find('a', 1_000 + TARGET_KEPT_MS), undefined)
  assert.equal(targets.find('b', 1_000), undefined)
})

test('a clock that is set back does not extend the life of any entry', () => {
  const targets = cache()
  targets.ended(targets.begin('a', { now: 3_600_000, waiting: null }), 'read')
  assert.equal(targets.find('a', 3_599_999), undefined)
})

test('each destination has one reading at a time, and all callers wait for it', () => {
  const targets = cache()
  const reading = targets.begin('a', { now: 0, waiting: null })
  assert.equal(targets.find('a', 60_000), reading)
  assert.equal(reading.done, undefined)
})

test('a caller that joined a slow reading late may not use its result, which may be older than a second', () => {
  const targets = cache()
  const reading = targets.begin('a', { now: 0, waiting: null })
  targets.ended(reading, 'old')
  assert.ok(targets.serves(reading, TARGET_KEPT_MS - 1))
  assert.ok(!targets.serves(reading, TARGET_KEPT_MS))
})

test('the result of a reading that was under way when the destination changed is not used', () => {
  const targets = cache()
  const reading = targets.begin('a', { now: 0, waiting: null })
  targets.forget('a')
  assert.equal(targets.find('a', 0), undefined)
  targets.ended(reading, 'old')
  assert.ok(!targets.serves(reading, 0))
  assert.equal(targets.find('a', 0), undefined)
})

test('a failed reading is not cached, and does not replace another one', () => {
  const targets = cache()
  const failed = targets.begin('a', { now: 0, waiting: null })
  targets.forget('a')
  const next = targets.begin('a', { now: 1, waiting: null })
  targets.drop(failed)
  assert.equal(targets.find('a', 1), next)
  targets.drop(next)
  assert.equal(targets.find('a', 1), undefined)
})
