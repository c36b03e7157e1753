import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judge } from './judge.ts'
import { ERROR_CODES } from '@postroad/contract'

const answer = (status: number, retry_after_seconds: number | null = null) =>
  judge({ type: 'response', status, retry_after_seconds })
const retry = (error_code: string, retry_after_seconds: number | null = null) => ({
  next: 'retry',
  error_code,
  retry_after_seconds,
})

test('any 2xx is delivered', () => {
  for (const status of [200, 201, 202, 204, 299])
    assert.deepEqual(answer(status), { next: 'delivered' }, String(status))
})

test('a request without a complete response head is retried under its own error code', () => {
  for (const error_code of ERROR_CODES) assert.deepEqual(judge({ type: 'failure', error_code }), retry(error_code))
})

test('3xx is a failure with the code redirect', () => {
  for (const status of [300, 301, 302, 304, 307, 308, 399]) assert.deepEqual(answer(status), retry('redirect'))
})

test('410 disables the destination', () => {
  assert.deepEqual(answer(410), { next: 'disable', error_code: 'bad_status' })
})

test('every other status is retried', () => {
  for (const status of [100, 101, 199, 400, 401, 404, 409, 418, 422, 429, 500, 502, 503, 599, 999]) {
    assert.deepEqual(answer(status), retry('bad_status'), String(status))
  }
})

test('Retry-After counts with 429 and 503 only', () => {
  assert.deepEqual(answer(429, 60), retry('bad_status', 60))
  assert.deepEqual(answer(503, 60), retry('bad_status', 60))
  for (const status of [301, 400, 500, 502]) {
    assert.deepEqual(answer(status, 60), retry(status === 301 ? 'redirect' : 'bad_status'), String(status))
  }
})
