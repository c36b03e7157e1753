import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compilePath, readPath, writePath } from './dot-path.ts'
import { parseJson } from '../json/json-text.ts'

const read = (payload: unknown, path: string): unknown => readPath(payload, compilePath(path))

function write(...writes: readonly [string, unknown][]): Record<string, unknown> {
  const root: Record<string, unknown> = {}
  for (const [path, value] of writes) writePath(root, { path: compilePath(path), value })
  return root
}

test('a path walks objects and lists', () => {
  const payload = { items: [{ id: 7 }], 'a.b': { c: null }, 'd\\': 1 }
  assert.equal(read(payload, 'items.0.id'), 7)
  assert.equal(read(payload, 'a\\.b.c'), null)
  assert.equal(read(payload, 'd\\\\'), 1)
  for (const path of ['items.1.id', 'items.0.id.x', 'a.b', 'items.-1', 'items.00', 'none'])
    assert.equal(read(payload, path), undefined, path)
})

test('only data of the sender is read, and no property of a prototype or a list', () => {
  for (const path of [
    '__proto__',
    'constructor',
    'toString',
    '__proto__.polluted',
    'list.length',
    'list.map',
    'text.length',
    'text.0',
  ]) {
    assert.equal(read({ list: [1], text: 'x' }, path), undefined, path)
  }
  assert.equal(read(JSON.parse('{"__proto__":{"a":1},"constructor":2,"length":3}'), '__proto__.a'), 1)
  assert.equal(read(JSON.parse('{"constructor":2}'), 'constructor'), 2)
  assert.equal(read({ length: 3 }, 'length'), 3)
})

test('a raw number has no members, but an object may have a key of that name', () => {
  const parsed = parseJson('{"n":1.50,"o":{"rawJSON":"x"}}')
  assert.ok(parsed.ok)
  assert.equal(read(parsed.value, 'n.rawJSON'), undefined)
  assert.equal(read(parsed.value, 'o.rawJSON'), 'x')
})

test('writing creates objects and lists on the way, with null in the holes', () => {
  assert.deepEqual(write(['a.b.c', 1], ['a.d', 2]), { a: { b: { c: 1 }, d: 2 } })
  assert.deepEqual(write(['items.1.id', 'x'], ['items.3', 'y']), { items: [null, { id: 'x' }, null, 'y'] })
  assert.deepEqual(write(['0.1', 'x']), { 0: [null, 'x'] })
})

test('an index that no list should have is a name', () => {
  assert.deepEqual(write(['a.4294967294', 1]), { a: { 4294967294: 1 } })
})

test('a value in the way is replaced', () => {
  assert.deepEqual(write(['a', 1], ['a.b', 2]), { a: { b: 2 } })
  assert.deepEqual(write(['a.b', 1], ['a.0', 2]), { a: [2] })
})

test('no path reaches a prototype, in any order of writes', () => {
  const step = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'a', '0', '1', 'length')
  const path = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('.'))
  const before =
    Object.getOwnPropertyNames(Object.prototype).toString() + Object.getOwnPropertyNames(Array.prototype).toString()
  fc.assert(
    fc.property(fc.array(path, { minLength: 1, maxLength: 6 }), (paths) => {
      const root = write(...paths.map((each): [string, unknown] => [each, 'polluted']))
      const after =
        Object.getOwnPropertyNames(Object.prototype).toString() + Object.getOwnPropertyNames(Array.prototype).toString()
      assert.equal(after, before)
      assert.equal(Reflect.get({}, 'a'), undefined)
      assert.equal(Object.getPrototypeOf(root), Object.prototype)
      assert.equal(read(root, paths.at(-1) ?? ''), 'polluted')
    }),
  )
})
