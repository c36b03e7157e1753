import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Condition, Conditions } from './condition.ts'
import { splitPath } from './dot-path.ts'

const kept = (sent: unknown): unknown => Condition.parse(sent)

function refusal(sent: unknown): string {
  const parsed = Condition.safeParse(sent)
  assert.equal(parsed.success, false, JSON.stringify(sent))
  assert.equal(parsed.error.issues.length, 1)
  return parsed.error.issues[0]?.message ?? ''
}

test('an exact match in either form is stored as {path, equals}', () => {
  assert.deepEqual(kept({ path: 'a', op: 'equals', value: 1 }), { path: 'a', equals: 1 })
  assert.deepEqual(kept({ path: 'a', equals: null }), { path: 'a', equals: null })
})

test('the schema accepts each op with a value of its kind, unchanged', () => {
  const conditions = [
    { path: 'a.b', op: 'not_equals', value: 'x' },
    { path: 'a', op: 'contains', value: '' },
    { path: 'a', op: 'exists' },
    { path: 'a', op: 'gt', value: -1.5 },
    { path: 'a', op: 'gte', value: 0 },
    { path: 'a', op: 'lt', value: 1 },
    { path: 'a', op: 'lte', value: 1e6 },
    { path: 'a', op: 'in', value: ['x', 1, true, null] },
    { path: 'a', op: 'regex', value: '^a+$' },
  ]
  assert.deepEqual(Conditions.parse(conditions), conditions)
})

test('the schema accepts a stored condition again, unchanged', () => {
  const once = kept({ path: 'a', op: 'equals', value: 'x' })
  assert.deepEqual(kept(once), once)
})

test('exists takes no value, every other op needs one', () => {
  assert.match(refusal({ path: 'a', op: 'exists', value: true }), /takes no value/)
  for (const op of ['equals', 'not_equals', 'contains', 'gt', 'gte', 'lt', 'lte', 'in', 'regex']) {
    assert.match(refusal({ path: 'a', op }), /needs a value/)
  }
  assert.match(refusal({ path: 'a' }), /needs an op/)
})

test('a condition cannot combine equals with op and value, or have another property', () => {
  assert.match(refusal({ path: 'a', equals: 1, op: 'equals' }), /cannot be combined with op and value/)
  assert.match(refusal({ path: 'a', equals: 1, value: 1 }), /cannot be combined with op and value/)
  assert.match(refusal({ path: 'a', equals: 1, negate: true }), /no property "negate"/)
  assert.match(refusal('a'), /is an object/)
})

test('gt, gte, lt and lte need a finite number', () => {
  for (const value of ['1', null, true, Number.NaN, Infinity, [1]])
    assert.match(refusal({ path: 'a', op: 'gt', value }), /finite number/)
})

test('contains needs text, regex a pattern of at most 200 characters', () => {
  assert.match(refusal({ path: 'a', op: 'contains', value: 1 }), /needs text/)
  assert.match(refusal({ path: 'a', op: 'regex', value: 1 }), /needs a pattern/)
  assert.match(refusal({ path: 'a', op: 'regex', value: 'a'.repeat(201) }), /has 201 characters.+at most 200/)
  for (const value of ['', 'a'.repeat(200)]) assert.ok(kept({ path: 'a', op: 'regex', value }))
})

test('in needs 1 to 100 scalars', () => {
  assert.match(refusal({ path: 'a', op: 'in', value: [] }), /1 to 100/)
  assert.match(refusal({ path: 'a', op: 'in', value: Array(101).fill('x') }), /1 to 100/)
  assert.match(refusal({ path: 'a', op: 'in', value: 'x' }), /1 to 100/)
  assert.match(refusal({ path: 'a', op: 'in', value: [{}] }), /cannot be compared/)
  assert.ok(kept({ path: 'a', op: 'in', value: Array(100).fill('x') }))
})

test('a condition cannot compare with an object or with a number that has lost digits', () => {
  assert.match(refusal({ path: 'a', equals: {} }), /cannot be compared/)
  // JSON.parse has rounded 9007199254740993 to 9007199254740992 already.
  const lost: unknown = JSON.parse('9007199254740993')
  for (const value of [lost, -(2 ** 60)]) {
    assert.match(refusal({ path: 'a', equals: value }), /in quotes/)
    assert.match(refusal({ path: 'a', op: 'not_equals', value }), /in quotes/)
    assert.match(refusal({ path: 'a', op: 'in', value: [1, value] }), /in quotes/)
  }
})

test('a path has 1 to 256 characters and no empty step', () => {
  for (const path of ['', '.a', 'a..b', 'a.', 'a'.repeat(257), 3]) assert.notEqual(refusal({ path, equals: 1 }), '')
})

test('dots split a path; a backslash escapes a literal dot or a backslash', () => {
  assert.deepEqual(splitPath('items.0.id'), ['items', '0', 'id'])
  assert.deepEqual(splitPath('a\\.b.c\\\\.d'), ['a.b', 'c\\', 'd'])
  assert.deepEqual(splitPath('a\\b'), ['a\\b'])
})

test('an empty list is a list; 51 conditions are too many', () => {
  assert.deepEqual(Conditions.parse([]), [])
  assert.equal(Conditions.safeParse(Array.from({ length: 51 }, () => ({ path: 'a', op: 'exists' }))).success, false)
})
