import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Mapping, Mappings } from './mapping.ts'

function refusal(schema: typeof Mapping | typeof Mappings, sent: unknown): string {
  const parsed = schema.safeParse(sent)
  assert.equal(parsed.success, false, JSON.stringify(sent))
  return parsed.error.issues[0]?.message ?? ''
}

const list = (...targets: string[]): unknown => targets.map((target) => ({ target, path: 'x' }))

test('a mapping takes either a path or a constant; null is a constant', () => {
  assert.deepEqual(Mapping.parse({ target: 'a', value: null }), { target: 'a', value: null })
  const mapped = { target: 'a', path: 'b', default: false, transform: 'boolean' }
  assert.deepEqual(Mapping.parse(mapped), mapped)
  assert.match(refusal(Mapping, { target: 'a' }), /exactly one/)
  assert.match(refusal(Mapping, { target: 'a', path: 'b', value: 1 }), /exactly one/)
})

test('a constant takes no default and no transform', () => {
  assert.match(refusal(Mapping, { target: 'a', value: 1, default: 2 }), /no default and no transform/)
  assert.match(refusal(Mapping, { target: 'a', value: 1, transform: 'string' }), /no default and no transform/)
})

test('the transform is one of a closed set, and a mapping has no unknown properties', () => {
  assert.match(refusal(Mapping, { target: 'a', path: 'b', transform: 'eval' }), /is one of string, number/)
  assert.match(refusal(Mapping, { target: 'a', path: 'b', script: 'x' }), /no property "script"/)
})

test('a list index is at most 199; at the top level a number is a name', () => {
  assert.ok(Mapping.parse({ target: 'items.199', path: 'b' }))
  assert.match(refusal(Mapping, { target: 'items.200', path: 'b' }), /0 to 199/)
  assert.ok(Mapping.parse({ target: '4000000000', path: 'b' }))
})

test('the schema refuses targets that would overwrite each other', () => {
  assert.ok(Mappings.parse(list('a.0.x', 'a.1.x', 'b', '0', 'c.d', 'c.e')))
  for (const clash of [
    ['a', 'a'],
    ['a', 'a.b'],
    ['a.b', 'a'],
    ['a.0', 'a.b'],
    ['a.b.c', 'a.b.c.d'],
    ['a\\.b', 'a\\.b'],
  ]) {
    assert.match(refusal(Mappings, list(...clash)), /collides/)
  }
})

test('an empty list takes the whole payload; a list has at most 200 mappings', () => {
  assert.deepEqual(Mappings.parse([]), [])
  const many = Array.from({ length: 201 }, (_, at) => ({ target: `t${at}`, path: 'x' }))
  assert.match(refusal(Mappings, many), /at most 200/)
})

const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

test('a target and its constant or default can nest 128 levels together', () => {
  for (const [target, levels] of [
    ['a', 127],
    ['a.b.0', 125],
    [Array.from({ length: 128 }, () => 'a').join('.'), 0],
  ] as const) {
    for (const constant of [
      (value: unknown) => ({ target, value }),
      (value: unknown) => ({ target, path: 'x', default: value }),
    ]) {
      assert.deepEqual(
        Mapping.parse(constant(levels === 0 ? 1 : nested(levels))),
        constant(levels === 0 ? 1 : nested(levels)),
      )
      assert.match(
        refusal(Mapping, constant(nested(levels + 1))),
        /at most 128 levels deep; below this target \d+ are left/,
      )
    }
  }
})
