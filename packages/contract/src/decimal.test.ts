import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compareDecimals, isBeyondDouble } from './decimal.ts'

test('decimals of any length compare by every digit, whatever their form is', () => {
  const inOrder = [
    '-1e400',
    '-9007199254740993',
    '-9007199254740992',
    '-1.50',
    '-0.0001',
    '0',
    '1e-400',
    '0.1',
    '0.1000000000000000055511151231257827',
    '1.5',
    '9007199254740992',
    '9007199254740993',
    '90071992547409930000000000000000.1',
    '1e400',
  ]
  for (const [a, left] of inOrder.entries())
    for (const [b, right] of inOrder.entries())
      assert.equal(Math.sign(compareDecimals(left, right)), Math.sign(a - b), `${left} and ${right}`)
  for (const equal of ['1.5', '1.50', '01.5', '+1.5', '15e-1', '0.15E1']) assert.equal(compareDecimals(equal, '1.5'), 0)
  for (const zero of ['0', '-0', '0.000', '0e9']) assert.equal(compareDecimals(zero, '0'), 0)
})

test('integers compare as BigInt does', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), (a, b) => {
      assert.equal(Math.sign(compareDecimals(String(a), String(b))), a < b ? -1 : a > b ? 1 : 0)
    }),
  )
})

test('doubles compare as doubles do', () => {
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (a, b) => {
        assert.equal(Math.sign(compareDecimals(String(a), String(b))), a < b ? -1 : a > b ? 1 : 0)
      },
    ),
  )
})

test('a number that is exactly a double is not beyond it', () => {
  for (const exact of ['5', '1.50', '9007199254740992', '1e21']) assert.equal(isBeyondDouble(exact), false, exact)
  for (const beyond of ['9007199254740993', '0.1000000000000000000001', '1e400'])
    assert.equal(isBeyondDouble(beyond), true, beyond)
})
