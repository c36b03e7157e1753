import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseJson, stringifyJson } from './json-text.ts'
import { sameJson } from './same-json.ts'

function value(text: string): unknown {
  const parsed = parseJson(text)
  assert.ok(parsed.ok)
  return parsed.value
}

const same = (one: string, other: string): boolean => sameJson(value(one), value(other))

test('the order of members makes no difference, and that of a list does', () => {
  assert.ok(same('{"a":1,"b":[1,{"c":null}]}', '{"b":[1,{"c":null}],"a":1}'))
  assert.ok(!same('[1,2]', '[2,1]'))
  assert.ok(!same('{"a":1}', '{"a":1,"b":1}'))
  assert.ok(!same('{"a":1}', '{"b":1}'))
  assert.ok(!same('[]', '{}'))
  assert.ok(!same('null', '{}'))
})

test('every digit counts', () => {
  assert.ok(same('{"a":1.50}', '{"a":1.50}'))
  assert.ok(!same('1.50', '1.5'))
  assert.ok(!same('12345678901234567890', '12345678901234567891'))
})

test('a member that is undefined is absent', () => {
  assert.ok(sameJson({ a: 1, b: undefined }, { a: 1 }))
  assert.ok(sameJson({ a: undefined }, {}))
  assert.ok(!sameJson({ a: undefined }, { b: undefined, c: 1 }))
})

test('two values are the same exactly when their sorted texts are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [a, b] = [value(JSON.stringify(one)), value(JSON.stringify(other))]
      assert.equal(sameJson(a, b), sorted(a) === sorted(b))
      assert.ok(sameJson(a, value(stringifyJson(a))))
    }),
  )
})

const sorted = (of: unknown): string =>
  JSON.stringify(of, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one) && Object.getPrototypeOf(one) !== null
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
