import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backOffMs, waitMsAfter } from './retry.ts'
import { serviceError } from './service-error.ts'

const wait = (
  said: { status: number; reason?: string; retryAfter?: number },
  { canRepeat = true, retries = 0, random = 0.5 } = {},
): number | undefined => waitMsAfter(serviceError('No.', said), { canRepeat, retries, random: () => random })

test('the wait doubles up to 8 seconds, and is between half of that and all of it', () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 50].map((retries) => backOffMs(retries, () => 1)),
    [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000],
  )
  assert.equal(
    backOffMs(1, () => 0),
    500,
  )
})

test('the client waits for a Retry-After, and up to a quarter of a second more', () => {
  assert.equal(wait({ status: 429, retryAfter: 3 }, { random: 0 }), 3_000)
  assert.equal(wait({ status: 503, retryAfter: 10 }, { random: 1 }), 10_250)
  assert.equal(wait({ status: 429, retryAfter: 11 }), undefined)
})

test('the client repeats a request only after a failure that another attempt can change', () => {
  for (const status of [0, 408, 429, 500, 502, 503, 504]) assert.equal(wait({ status }), 375, String(status))
  for (const status of [400, 401, 403, 404, 409, 413, 422, 501])
    assert.equal(wait({ status }), undefined, String(status))
  assert.equal(wait({ status: 409, reason: 'idempotency_in_progress', retryAfter: 1 }), 1_125)
})

test('the client repeats a request that may have taken effect only when that is safe', () => {
  for (const status of [0, 408, 500, 502, 503, 504])
    assert.equal(wait({ status }, { canRepeat: false }), undefined, String(status))
  assert.equal(wait({ status: 429 }, { canRepeat: false }), 375)
})
