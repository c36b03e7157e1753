import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readPath } from '../routing/dot-path.ts'
import { columnPath } from './column.ts'
import { flatten } from './flatten.ts'
import { parseJson, stringifyJson } from '../json/json-text.ts'

const columnsOf = (payload: unknown) => flatten(payload)?.columns ?? assert.fail()

test('objects and lists become columns named by their path', () => {
  const payload = { a: { b: [{ c: 1 }, 'x'] }, 'd.e': null, f: true }
  assert.deepEqual(columnsOf(payload), { 'a.b.0.c': 1, 'a.b.1': 'x', 'd\\.e': null, f: true })
})

test('empty objects and lists are values', () => {
  assert.deepEqual(columnsOf({ a: {}, b: [], c: [[]] }), { a: {}, b: [], 'c.0': [] })
  assert.deepEqual(columnsOf({}), {})
})

test('a payload that is neither an object nor a list is the column value', () => {
  for (const payload of ['x', 1, null, false]) assert.deepEqual(columnsOf(payload), { value: payload })
})

test('raw numbers keep their digits, and __proto__ is an ordinary column', () => {
  const parsed = parseJson('{"id":12345678901234567890,"__proto__":1.50}')
  assert.ok(parsed.ok)
  assert.equal(stringifyJson(columnsOf(parsed.value)), '{"id":12345678901234567890,"__proto__":1.50}')
})

test('a payload is flattened completely: many columns, long keys, 128 levels and empty keys', () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, { a: [at] }]))
  assert.equal(Object.keys(columnsOf(wide)).length, 100_000)
  const long = 'k'.repeat(5_000)
  assert.deepEqual(columnsOf({ [long]: { a: 1 }, b: 2 }), { [`${long}.a`]: 1, b: 2 })
  const parsed = parseJson(`${'{"level":'.repeat(128)}1${'}'.repeat(128)}`)
  assert.ok(parsed.ok)
  assert.deepEqual(Object.entries(columnsOf(parsed.value)), [[Array(128).fill('level').join('.'), 1]])
  assert.deepEqual(columnsOf({ '': { '': 1, a: 2 }, a: { '': 3 } }), { '.': 1, '.a': 2, 'a.': 3 })
})

test('a top-level key with the name of a meta column gets a backslash before it, and no other key gets the same column', () => {
  const payload = { _id: 1, _received_at: 2, _source: 3, _other: 4, a: { _id: 5 }, '\\_id': 6 }
  assert.deepEqual(columnsOf(payload), {
    '\\_id': 1,
    '\\_received_at': 2,
    '\\_source': 3,
    _other: 4,
    'a._id': 5,
    '\\\\_id': 6,
  })
  assert.deepEqual(columnsOf({ _id: { a: 1 } }), { '_id.a': 1 })
})

test('each column is the path of its value, and each value has its own column', () => {
  const key = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', '.', '\\', '_', 'b', '0'), maxLength: 3 }),
    fc.constantFrom('_id', '\\_id', '_source', '__proto__', 'length', 'value'),
  )
  const { payload } = fc.letrec<{ payload: unknown; node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(key, tie('node')),
    ),
    payload: fc.oneof(fc.dictionary(key, tie('node'), { maxKeys: 6 }), fc.array(tie('node'))),
  }))
  fc.assert(
    fc.property(payload, (data) => {
      const columns = Object.entries(columnsOf(data))
      for (const [column, value] of columns) assert.deepEqual(readPath(data, columnPath(column)), value)
      assert.equal(columns.length, leavesOf(data))
    }),
    { numRuns: 500 },
  )
})

function leavesOf(node: unknown, isTop = true): number {
  if (typeof node !== 'object' || node === null) return 1
  const inner = Object.values(node)
  return inner.length === 0 ? Number(!isTop) : inner.reduce<number>((sum, one) => sum + leavesOf(one, false), 0)
}

test('a payload that would exceed the limit is not flattened, although few bytes of payload can make long paths', () => {
  const deep = { ['k'.repeat(1_000_000)]: Array.from({ length: 1_000_000 }, () => 0) }
  assert.equal(flatten(deep, 16_000_000), undefined)
  assert.equal(flatten({ a: 'x'.repeat(100) }, 50), undefined)
  assert.equal(flatten({ a: 'x'.repeat(10) }, 50)?.chars, 13)
})
