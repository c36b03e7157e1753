import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compilePath, readPath } from './dot-path.ts'
import { flatten } from './flatten.ts'
import { parseJson, stringifyJson } from './json-text.ts'

test('objects and lists become columns named by their path', () => {
  const payload = { a: { b: [{ c: 1 }, 'x'] }, 'd.e': null, f: true }
  assert.deepEqual(flatten(payload), { 'a.b.0.c': 1, 'a.b.1': 'x', 'd\\.e': null, f: true })
})

test('empty objects and lists stay as they are', () => {
  assert.deepEqual(flatten({ a: {}, b: [], c: [[]] }), { a: {}, b: [], 'c.0': [] })
  assert.deepEqual(flatten({}), {})
})

test('a payload that is no object or list is the column value', () => {
  for (const payload of ['x', 1, null, false]) assert.deepEqual(flatten(payload), { value: payload })
})

test('raw numbers keep their digits, and __proto__ is a column like any other', () => {
  const parsed = parseJson('{"id":12345678901234567890,"__proto__":1.50}')
  assert.ok(parsed.ok)
  assert.equal(stringifyJson(flatten(parsed.value)), '{"id":12345678901234567890,"__proto__":1.50}')
})

test('at most 500 columns', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, { a: [at] }]))
  assert.equal(Object.keys(flatten(wide)).length, 500)
})

test('each column is the dot path of its value', () => {
  const key = fc.string({ unit: fc.constantFrom('a', '.', '\\', 'b'), minLength: 1, maxLength: 3 })
  const payload = fc.dictionary(
    key,
    fc.oneof(fc.integer(), fc.dictionary(key, fc.array(fc.integer(), { maxLength: 3 }))),
  )
  fc.assert(
    fc.property(payload, (data) => {
      for (const [column, value] of Object.entries(flatten(data)))
        assert.deepEqual(readPath(data, compilePath(column)), value)
    }),
  )
})

test('what no path of 256 characters reaches is no column', () => {
  const long = 'k'.repeat(250)
  assert.deepEqual(flatten({ [long]: { a: 1, 'a name too long': 2 }, ['k'.repeat(257)]: 3, b: 4 }), { [`${long}.a`]: 1, b: 4 })
})
