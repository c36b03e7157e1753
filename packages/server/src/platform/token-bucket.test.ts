import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { takeToken, type Bucket, type BucketLimit } from './token-bucket.ts'

/** Returns how many of `count` requests at one moment get a token, and the bucket after them. */
function takeMany(count: number, at: BucketLimit & { now: number; bucket?: Bucket | undefined }) {
  let bucket = at.bucket
  let taken = 0
  let waitMs: number | undefined
  for (let index = 0; index < count; index += 1) {
    const result = takeToken(bucket, at)
    if ('waitMs' in result) waitMs ??= result.waitMs
    else {
      bucket = result
      taken += 1
    }
  }
  return { bucket, taken, waitMs }
}

describe('a token bucket', () => {
  test('starts full: it allows exactly `burst` requests at one moment, then the next request waits for one refill', () => {
    const { taken, waitMs } = takeMany(1_100, { perSecond: 500, burst: 1_000, now: 5 })
    assert.equal(taken, 1_000)
    assert.equal(waitMs, 2)
  })

  test('refills at its rate and never beyond its burst', () => {
    const limit = { perSecond: 50, burst: 100 }
    const { bucket } = takeMany(200, { ...limit, now: 0 })
    assert.equal(takeMany(200, { ...limit, now: 19, bucket }).taken, 0)
    assert.equal(takeMany(200, { ...limit, now: 20, bucket }).taken, 1)
    assert.equal(takeMany(200, { ...limit, now: 1_000, bucket }).taken, 50)
    assert.equal(takeMany(200, { ...limit, now: 3_600_000, bucket }).taken, 100)
  })

  test('reaches its exact average at rates whose refill is not a round number', () => {
    for (const perSecond of [3, 7, 0.1, 333]) {
      const limit = { perSecond, burst: 10 }
      let { bucket } = takeMany(20, { ...limit, now: 0 })
      let taken = 0
      for (let refill = 1; refill <= 1_000; refill += 1) {
        const step = takeMany(2, { ...limit, now: (refill * 1_000) / perSecond, bucket })
        bucket = step.bucket
        taken += step.taken
      }
      assert.equal(taken, 1_000, String(perSecond))
    }
  })

  test('a caller that must wait gets a token after that time and not before', () => {
    const limit = { perSecond: 4, burst: 2 }
    const { bucket, waitMs } = takeMany(3, { ...limit, now: 100 })
    assert.equal(waitMs, 250)
    assert.equal(takeMany(1, { ...limit, now: 349, bucket }).taken, 0)
    assert.equal(takeMany(1, { ...limit, now: 350, bucket }).taken, 1)
  })
})
