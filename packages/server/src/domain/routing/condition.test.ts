import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Condition, Conditions } from '@postroad/contract'
import * as fc from 'fast-check'
import { compileConditions, type CompareMode, type CompiledConditions, type ConditionFailure } from './condition.ts'
import { parseJson } from '../json/json-text.ts'

function holds(condition: unknown, payload: unknown, mode: CompareMode = 'text'): boolean {
  return firstFailureOf(compileConditions(Conditions.parse([condition]), mode), payload) === undefined
}

function firstFailureOf(compiled: CompiledConditions, payload: unknown): ConditionFailure | undefined {
  return compiled.firstFailure({ payload, request: null })
}

/** Parsed the way the road parses it, with raw numbers. */
function parsed(text: string): unknown {
  const result = parseJson(text)
  assert.ok(result.ok)
  return result.value
}

test('all conditions must match, an empty list matches everything, and the first failing condition reports its value', () => {
  const conditions = Conditions.parse([
    { path: 'a', equals: 1 },
    { path: 'b.c', op: 'gt', value: 5 },
    { path: 'd', op: 'exists' },
  ])
  const compiled = compileConditions(conditions, 'text')
  assert.equal(firstFailureOf(compiled, { a: 1, b: { c: 6 }, d: null }), undefined)
  assert.deepEqual(firstFailureOf(compiled, { a: 1, b: { c: 5 } }), { index: 1, condition: conditions[1], saw: 5 })
  assert.deepEqual(firstFailureOf(compiled, { a: 1, b: { c: 6 } }), {
    index: 2,
    condition: conditions[2],
    saw: undefined,
  })
  for (const payload of [null, 1, 'x', [], {}])
    assert.equal(firstFailureOf(compileConditions([], 'strict'), payload), undefined)
})

test('exists matches any existing value, even null', () => {
  for (const value of [null, false, 0, '', [], {}]) assert.ok(holds({ path: 'a', op: 'exists' }, { a: value }))
  assert.ok(!holds({ path: 'a', op: 'exists' }, {}))
})

test('in rules and criteria equals, not_equals and in compare as text', () => {
  for (const [wanted, value] of [
    ['1', 1],
    [1, '1'],
    ['true', true],
    [false, 'false'],
    ['null', null],
    [null, 'null'],
    ['x', 'x'],
  ]) {
    assert.ok(holds({ path: 'a', equals: wanted }, { a: value }), `${wanted} ${value}`)
    assert.ok(holds({ path: 'a', op: 'in', value: ['other', wanted] }, { a: value }))
    assert.ok(!holds({ path: 'a', op: 'not_equals', value: wanted }, { a: value }))
  }
  assert.ok(!holds({ path: 'a', equals: 'X' }, { a: 'x' }))
})

test('in workflows and triggers they compare with strict equality', () => {
  for (const [wanted, value] of [
    ['1', 1],
    [1, '1'],
    ['true', true],
    [false, 'false'],
    [null, 'null'],
  ]) {
    assert.ok(!holds({ path: 'a', equals: wanted }, { a: value }, 'strict'))
    assert.ok(holds({ path: 'a', equals: value }, { a: value }, 'strict'))
    assert.ok(holds({ path: 'a', op: 'not_equals', value: wanted }, { a: value }, 'strict'))
  }
})

test('a missing value, an object or a list equals nothing, and so is not equal to anything', () => {
  for (const mode of ['text', 'strict'] as const) {
    for (const payload of [{}, { a: {} }, { a: ['x'] }]) {
      assert.ok(!holds({ path: 'a', equals: 'x' }, payload, mode))
      assert.ok(!holds({ path: 'a', op: 'in', value: ['undefined', '[object Object]', 'x'] }, payload, mode))
      assert.ok(holds({ path: 'a', op: 'not_equals', value: 'x' }, payload, mode))
    }
  }
})

test('gt, gte, lt and lte match numbers and plain decimals in text, and nothing else', () => {
  for (const value of [6, '6', ' 6 ', '+6', '6.0', '006', '5.5', 5.01, '\n6\t'])
    assert.ok(holds({ path: 'a', op: 'gt', value: 5 }, { a: value }), String(value))
  for (const value of [
    '0x10',
    '1e3',
    '',
    ' ',
    '6.',
    '.6',
    '6,0',
    '6 7',
    '--6',
    '٦',
    'Infinity',
    'NaN',
    true,
    null,
    [6],
    { n: 6 },
  ]) {
    for (const op of ['gt', 'gte', 'lt', 'lte']) {
      for (const bound of [-1e6, 0, 1e6])
        assert.ok(!holds({ path: 'a', op, value: bound }, { a: value }), JSON.stringify(value))
    }
  }
  assert.ok(holds({ path: 'a', op: 'gte', value: -1.5 }, { a: '-1.50' }))
  assert.ok(holds({ path: 'a', op: 'lte', value: 0 }, { a: '-0' }))
  assert.ok(!holds({ path: 'a', op: 'lt', value: 5 }, { a: 5 }))
})

test('contains finds a text in a text, and an item in a list', () => {
  assert.ok(holds({ path: 'a', op: 'contains', value: 'ell' }, { a: 'hello' }))
  assert.ok(!holds({ path: 'a', op: 'contains', value: 'ELL' }, { a: 'hello' }))
  assert.ok(holds({ path: 'a', op: 'contains', value: 'x' }, { a: ['w', 'x'] }))
  for (const value of [12, null, { x: 1 }, ['xy']])
    assert.ok(!holds({ path: 'a', op: 'contains', value: 'x' }, { a: value }))
})

test('regex is tested against the first 256 characters of a text field only', () => {
  assert.ok(holds({ path: 'a', op: 'regex', value: 'b' }, { a: `${'a'.repeat(255)}b` }))
  assert.ok(!holds({ path: 'a', op: 'regex', value: 'b' }, { a: `${'a'.repeat(256)}b` }))
  assert.ok(holds({ path: 'a', op: 'regex', value: 'a$' }, { a: `${'a'.repeat(256)}b` }))
  for (const value of [1, null, ['a'], true]) assert.ok(!holds({ path: 'a', op: 'regex', value: '.*' }, { a: value }))
})

test('patterns that freeze a backtracking engine never reach RegExp', (t) => {
  const patterns = ['^a{0,255}a{0,255}a{0,255}a{0,255}b', 'a*a*a{0,99}b']
  const run = t.mock.method(RegExp.prototype, 'exec')
  const made: string[] = []
  const Original = globalThis.RegExp
  const spy = new Proxy(Original, {
    construct(target, args: [string | RegExp, string?]) {
      made.push(String(args[0]))
      return new target(...args)
    },
  })
  t.mock.property(globalThis, 'RegExp', spy)
  for (const pattern of patterns)
    assert.ok(!holds({ path: 'a', op: 'regex', value: pattern }, { a: `${'a'.repeat(255)}c` }))
  const sources = run.mock.calls.map((call) => (call.this as RegExp).source)
  for (const pattern of patterns) assert.ok(!made.includes(pattern) && !sources.includes(pattern))
})

test('big numbers compare by their digits, and with a bound as numbers', () => {
  const payload = parsed('{"id":12345678901234567890,"price":10.50,"huge":1e400,"zero":-0}')
  assert.ok(holds({ path: 'id', equals: '12345678901234567890' }, payload))
  assert.ok(!holds({ path: 'id', equals: '12345678901234567891' }, payload))
  assert.ok(!holds({ path: 'id', equals: '12345678901234567000' }, payload))
  for (const wanted of [10.5, '10.5', '10.50']) assert.ok(holds({ path: 'price', equals: wanted }, payload))
  assert.ok(holds({ path: 'price', equals: 10.5 }, payload, 'strict'))
  assert.ok(holds({ path: 'zero', equals: 0 }, payload, 'strict'))
  for (const path of ['id', 'price', 'huge']) assert.ok(holds({ path, op: 'gt', value: 10 }, payload))
  assert.ok(!holds({ path: 'price', op: 'contains', value: '1' }, payload))
})

test('gt, gte, lt and lte compare numbers of any length by every digit, as equals does', () => {
  const payload = parsed('{"id":9007199254740993,"text":"9007199254740993","tiny":0.10000000000000000001,"huge":1e400}')
  for (const path of ['id', 'text']) {
    assert.ok(holds({ path, op: 'gt', value: 2 ** 53 }, payload), path)
    assert.ok(!holds({ path, op: 'lte', value: 2 ** 53 }, payload), path)
    assert.ok(holds({ path, op: 'gte', value: '9007199254740993' }, payload), path)
    assert.ok(!holds({ path, op: 'gt', value: '9007199254740993' }, payload), path)
    assert.ok(!holds({ path, op: 'gte', value: '9007199254740993.5' }, payload), path)
  }
  assert.ok(holds({ path: 'tiny', op: 'gt', value: 0.1 }, payload))
  assert.ok(holds({ path: 'huge', op: 'gt', value: Number.MAX_VALUE }, payload))
})

test('a number beyond 2^53 equals its own digits in rules, and nothing under strict equality', () => {
  const [even, odd] = ['9007199254740992', '9007199254740993']
  const payload = parsed(`{"even":${even},"odd":${odd},"text":"${odd}"}`)
  for (const [path, own, other] of [
    ['even', even, odd],
    ['odd', odd, even],
  ] as const) {
    assert.ok(holds({ path, equals: own }, payload))
    assert.ok(!holds({ path, equals: other }, payload))
    assert.ok(holds({ path, op: 'not_equals', value: other }, payload))
    assert.ok(!holds({ path, op: 'in', value: [other, '1'] }, payload))
    for (const wanted of [own, other, Number.MAX_SAFE_INTEGER])
      assert.ok(!holds({ path, equals: wanted }, payload, 'strict'))
    assert.ok(holds({ path, op: 'gt', value: Number.MAX_SAFE_INTEGER }, payload, 'strict'))
  }
  assert.ok(holds({ path: 'text', equals: odd }, payload, 'strict'))
  assert.ok(!holds({ path: 'text', equals: even }, payload, 'strict'))
})

test('compiled conditions follow the rules', () => {
  const scalar = fc.constantFrom<string | number | boolean | null>(
    '',
    'a',
    'ab',
    '1',
    ' 1 ',
    '1.5',
    '0x1',
    '1e1',
    'true',
    'null',
    0,
    1,
    1.5,
    -2,
    true,
    false,
    null,
  )
  const value = fc.oneof({ weight: 4, arbitrary: scalar }, fc.array(scalar, { maxLength: 2 }), fc.constant({}))
  const payload = fc.oneof(fc.record({ a: value, b: fc.record({ c: value }) }, { requiredKeys: [] }), value)
  const path = fc.constantFrom('a', 'b', 'b.c', 'a.0', 'x')
  const condition = fc.oneof(
    fc.record({ path, equals: scalar }),
    fc.record({ path, op: fc.constantFrom('equals', 'not_equals'), value: scalar }),
    fc.record({ path, op: fc.constantFrom('gt', 'gte', 'lt', 'lte'), value: fc.constantFrom(-2, 0, 1, 1.5) }),
    fc.record({ path, op: fc.constant('in'), value: fc.array(scalar, { minLength: 1, maxLength: 4 }) }),
    fc.record({ path, op: fc.constant('contains'), value: fc.constantFrom('', 'a', '1') }),
    fc.record({ path, op: fc.constant('regex'), value: fc.constantFrom('^a', '\\d', 'b$') }),
    fc.record({ path, op: fc.constant('exists') }),
  )
  fc.assert(
    fc.property(
      fc.array(condition, { maxLength: 3 }),
      payload,
      fc.constantFrom<CompareMode>('text', 'strict'),
      (sent, data, mode) => {
        const conditions = Conditions.parse(sent)
        const expected = conditions.findIndex((each) => !oracle(each, data, mode))
        assert.equal(firstFailureOf(compileConditions(conditions, mode), data)?.index ?? -1, expected)
      },
    ),
    { numRuns: 3_000 },
  )
})

/** The rules of the contract, one after another, without regard for speed. */
function oracle(condition: Condition, payload: unknown, mode: CompareMode): boolean {
  const saw = lookUp(payload, condition.path)
  const same = (wanted: unknown): boolean =>
    mode === 'strict' ? saw === wanted : isScalar(saw) && String(saw) === String(wanted)
  if ('equals' in condition) return same(condition.equals)
  switch (condition.op) {
    case 'not_equals':
      return !same(condition.value)
    case 'in':
      return condition.value.some(same)
    case 'exists':
      return saw !== undefined
    case 'contains':
      return contains(saw, condition.value)
    case 'regex':
      return typeof saw === 'string' && new RegExp(condition.value).test(saw.slice(0, 256))
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return relation(numberIn(saw), Number(condition.value))[condition.op]
  }
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

function contains(saw: unknown, wanted: string): boolean {
  if (typeof saw === 'string') return saw.includes(wanted)
  return Array.isArray(saw) && saw.some((item) => item === wanted)
}

function numberIn(saw: unknown): number {
  if (typeof saw === 'number') return saw
  return typeof saw === 'string' && /^\s*[+-]?[0-9]+([.][0-9]+)?\s*$/.test(saw) ? Number(saw) : Number.NaN
}

function relation(value: number, bound: number) {
  return { gt: value > bound, gte: value >= bound, lt: value < bound, lte: value <= bound }
}

function lookUp(payload: unknown, path: string): unknown {
  let value = payload
  for (const key of path.split('.')) {
    if (Object(value) !== value || !Object.hasOwn(Object(value), key)) return undefined
    value = Object(value)[key]
  }
  return value
}
