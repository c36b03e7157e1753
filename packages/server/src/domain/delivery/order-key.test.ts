import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from '../json/json-text.ts'
import { compileOrderKey } from './order-key.ts'

const REQUEST = { method: 'POST', path: null, headers: { 'x-order': '7' }, query: {} }
const OWN = '019b0000-0000-7000-8000-000000000001'

function keyOf(text: string, path = 'order.id'): string {
  const parsed = parseJson(text)
  assert.ok(parsed.ok)
  return compileOrderKey(path)({ payload: parsed.value, request: REQUEST }, OWN)
}

test('equal values have equal keys in the form of a UUID, and different values have different keys', () => {
  assert.equal(keyOf('{"order":{"id":7}}'), keyOf('{"a":1,"order":{"id":7}}'))
  assert.match(keyOf('{"order":{"id":7}}'), /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const keys = [
    '7',
    '"7"',
    '8',
    'true',
    '"true"',
    '12345678901234567890',
    '12345678901234567891',
    '{"a":1}',
    '[1]',
    '""',
  ].map((value) => keyOf(`{"order":{"id":${value}}}`))
  assert.equal(new Set(keys).size, keys.length)
})

test('a record without the value, or with null, has its own key', () => {
  for (const text of ['{}', '{"order":null}', '{"order":{"id":null}}', '"text"', '[]']) assert.equal(keyOf(text), OWN)
})
