import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotated, secretsToSign } from './signing-secrets.ts'

const first = { current: 'a', previous: null }

test('the previous secret signs after the current one until its deadline, and no longer at the deadline', () => {
  const held = rotated(first, { secret: 'b', until: 1_000 })
  assert.deepEqual(
    [secretsToSign(first, 0), secretsToSign(held, 999), secretsToSign(held, 1_000)],
    [['a'], ['b', 'a'], ['b']],
  )
})

test('without an overlap the previous secret expires immediately, and a second rotation expires the oldest one', () => {
  const held = rotated(first, { secret: 'b', until: 1_000 })
  assert.deepEqual(secretsToSign(rotated(held, { secret: 'c', until: null }), 0), ['c'])
  assert.deepEqual(secretsToSign(rotated(held, { secret: 'c', until: 500 }), 0), ['c', 'b'])
})
