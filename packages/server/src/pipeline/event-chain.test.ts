import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createCipher } from '../platform/cipher.ts'
import { chainUnder, hasPassed, readChain } from './event-chain.ts'

const [id, other] = [randomUUID(), randomUUID()]

test('a link is recognized while SECRET_KEY is rotated, and only with the key that made it', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)]
  const chain = readChain(chainUnder(createCipher([older]))({ chain: null, id }))
  assert.equal(chain.length, 1)
  assert.ok(hasPassed(createCipher([newer, older]), { chain, id }))
  assert.ok(!hasPassed(createCipher([newer]), { chain, id }))
  assert.ok(!hasPassed(createCipher([older]), { chain, id: other }))
})

test('a chain grows at its end, names each service once, and is read up to its fifth link', () => {
  const cipher = createCipher([randomBytes(32)])
  const nextChain = chainUnder(cipher)
  const first = nextChain({ chain: null, id })
  const both = readChain(nextChain({ chain: first, id: other }))
  assert.equal(both[0], first)
  assert.ok(hasPassed(cipher, { chain: both, id }) && hasPassed(cipher, { chain: both, id: other }))
  assert.deepEqual(readChain(`${first}, ${first},${first}`), [first])
  assert.equal(readChain(Array.from({ length: 1_000 }, (_unused, n) => String(n).padStart(16, 'x')).join()).length, 5)
})
