import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createCipher } from './cipher.ts'

const [a, b] = [randomBytes(32), randomBytes(32)]

test('a sealed value opens in its own place and in no other', () => {
  const cipher = createCipher([a])
  const sealed = cipher.seal('sésame', 'table.column/row')
  assert.equal(cipher.open(sealed, 'table.column/row').reveal(), 'sésame')
  for (const place of ['table.column/other', 'table.other/row', 'other.column/row', ''])
    assert.throws(() => cipher.open(sealed, place))
})

test('each seal gives a different value, and one changed bit makes it unreadable', () => {
  const cipher = createCipher([a])
  const sealed = cipher.seal('x', 'p')
  assert.notDeepEqual(cipher.seal('x', 'p'), sealed)
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    assert.throws(() => cipher.open(changed, 'p'), `byte ${at}`)
  }
  assert.throws(() => cipher.open(sealed.subarray(0, 20), 'p'))
})

test('the newest key seals, every key opens, and a value names the key that sealed it', () => {
  const [old, ring] = [createCipher([a]), createCipher([b, a])]
  const sealed = old.seal('x', 'p')
  assert.equal(ring.open(sealed, 'p').reveal(), 'x')
  assert.throws(() => old.open(ring.seal('x', 'p'), 'p'), /SECRET_KEY_PREVIOUS/)
  assert.deepEqual(
    [sealed.subarray(1, 5).toString('hex'), old.keyIds(), ring.keyIds()[1]],
    [old.keyIds()[0], [ring.keyIds()[1]], old.keyIds()[0]],
  )
})

test('changed keys are used from the next seal on, and they are read again when a value has an unknown key', () => {
  let keys: [Buffer, ...Buffer[]] = [a]
  const cipher = createCipher(() => keys)
  keys = [b, a]
  const sealed = createCipher([b]).seal('x', 'p')
  assert.equal(cipher.open(sealed, 'p').reveal(), 'x')
  assert.equal(createCipher([b]).open(cipher.seal('y', 'p'), 'p').reveal(), 'y')
  keys = [b]
  assert.throws(() => createCipher([a]).open(cipher.seal('z', 'p'), 'p'))
})
