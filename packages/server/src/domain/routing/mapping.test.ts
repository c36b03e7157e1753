import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Mappings } from '@postroad/contract'
import * as fc from 'fast-check'
import { parseJson, stringifyJson } from '../json/json-text.ts'
import type { EventSource } from './event-path.ts'
import { compileMappings } from './mapping.ts'
import { RecordTexts } from './record-texts.ts'

// Far from UTC, so that a test fails for a date in the time zone of the machine.
process.env['TZ'] = 'Asia/Tokyo'

const source = (payload: unknown): EventSource => ({ payload, request: null })

/** The JSON text that a list of mappings makes from a payload's text. */
function mapped(mappings: unknown, payload: string): string {
  const parsed = parseJson(payload)
  assert.ok(parsed.ok)
  const result = compileMappings(Mappings.parse(mappings))(source(parsed.value))
  assert.ok(result !== 'whole')
  return stringifyJson(result.data)
}

const transformed = (transform: string, value: unknown): unknown =>
  JSON.parse(mapped([{ target: 'x', path: 'v', transform, default: 'DEFAULT' }], JSON.stringify({ v: value }))).x

test('an empty list uses the received text', () => {
  assert.equal(compileMappings([])(source({ a: 1 })), 'whole')
})

test('paths and constants go to their targets, and lists are built by index', () => {
  const mappings = [
    { target: 'order.id', path: 'data.object.id' },
    { target: 'lines.0.sku', path: 'items.1.sku' },
    { target: 'source', value: { kind: 'shop' } },
    { target: 'tags.2', value: 'x' },
    { target: 'a\\.b', path: 'c\\.d' },
  ]
  const payload = '{"data":{"object":{"id":"o1"}},"items":[{"sku":"s0"},{"sku":"s1"}],"c.d":true}'
  assert.equal(
    mapped(mappings, payload),
    '{"order":{"id":"o1"},"lines":[{"sku":"s1"}],"source":{"kind":"shop"},"tags":[null,null,"x"],"a.b":true}',
  )
})

test('a missing path without a default is left out, and null is not missing', () => {
  const mappings = [
    { target: 'a', path: 'x.y' },
    { target: 'b', path: 'x', default: 5 },
    { target: 'c', path: 'n', default: 5 },
    { target: 'd.e', path: 'x' },
  ]
  assert.equal(mapped(mappings, '{"n":null}'), '{"b":5,"c":null}')
  assert.equal(mapped([{ target: 'a', path: 'x' }], '3'), '{}')
})

test('numbers are copied digit for digit', () => {
  const payload = '{"id":12345678901234567890,"price":10.50,"deep":{"list":[1e400,-0]}}'
  const mappings = ['id', 'price', 'deep'].map((name) => ({ target: name, path: name }))
  assert.equal(mapped(mappings, payload), payload)
  assert.equal(mapped([{ target: 'id', path: 'id', transform: 'string' }], payload), '{"id":"12345678901234567890"}')
  assert.equal(
    mapped([{ target: 'n', path: 'n', transform: 'number' }], '{"n":"12345678901234567890"}'),
    '{"n":12345678901234567890}',
  )
})

test('string returns text, and JSON for objects and lists', () => {
  for (const [value, text] of [
    ['x', 'x'],
    [1.5, '1.5'],
    [true, 'true'],
    [{ a: [1] }, '{"a":[1]}'],
    [null, 'DEFAULT'],
  ])
    assert.equal(transformed('string', value), text)
})

test('number takes numbers and plain decimals', () => {
  for (const [value, number] of [
    [2, 2],
    ['2', 2],
    [' +2.5 ', 2.5],
    ['-007', -7],
    ['1.0', 1],
  ])
    assert.equal(transformed('number', value), number)
  for (const value of ['', '0x1', '1e3', 'abc', true, null, [1], {}])
    assert.equal(transformed('number', value), 'DEFAULT')
})

test('boolean takes booleans, 1 and 0, and the words of forms', () => {
  for (const value of [true, 1, '1', 'true', ' YES ', 'on']) assert.equal(transformed('boolean', value), true)
  for (const value of [false, 0, '0', 'False', 'no', 'off']) assert.equal(transformed('boolean', value), false)
  for (const value of ['', 'maybe', 2, null, [], {}]) assert.equal(transformed('boolean', value), 'DEFAULT')
})

test('lowercase, uppercase and trim change text and nothing else', () => {
  assert.equal(transformed('lowercase', 'ÀB'), 'àb')
  assert.equal(transformed('uppercase', 'àb'), 'ÀB')
  assert.equal(transformed('trim', ' a b\n'), 'a b')
  for (const transform of ['lowercase', 'uppercase', 'trim'])
    for (const value of [5, null, true, ['A']]) assert.deepEqual(transformed(transform, value), value)
})

const encoded = (text: string): string => Buffer.from(text).toString('base64')

const written = (text: string): string =>
  mapped([{ target: 'x', path: 'v', transform: 'base64' }], JSON.stringify({ v: text }))

test('base64 returns text, or the value of a JSON object or list with its digits; anything else is missing', () => {
  assert.equal(transformed('base64', encoded('Zoë')), 'Zoë')
  assert.equal(written(encoded('{"id":12345678901234567890}')), '{"x":{"id":12345678901234567890}}')
  assert.equal(written(encoded(' [1.50]')), '{"x":[1.50]}')
  assert.equal(written(Buffer.from('["?>?>"]').toString('base64url')), '{"x":["?>?>"]}')
  for (const text of ['42', 'true', 'null', '"x"', '{', ''])
    assert.equal(transformed('base64', encoded(text)), text, 'a scalar stays text')
  assert.equal(transformed('base64', `${encoded('line').slice(0, 4)}\n${encoded('line').slice(4)}`), 'line')
  for (const value of ['a', 'ab-+', 'a=b', 'gé', 42, null, {}, Buffer.from([0xff, 0xfe]).toString('base64')])
    assert.equal(transformed('base64', value), 'DEFAULT', JSON.stringify(value))
})

test('iso_date returns UTC with milliseconds in any time zone of this machine', () => {
  for (const [value, date] of [
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02 03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02T03:04:05.123456+02:00', '2026-01-02T01:04:05.123Z'],
    ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['Fri, 02 Jan 2026 03:04:05 +0200', '2026-01-02T01:04:05.000Z'],
    ['Fri, 02 Jan 2026 03:04:05 GMT', '2026-01-02T03:04:05.000Z'],
    [1_767_323_045, '2026-01-02T03:04:05.000Z'],
    [1_767_323_045.5, '2026-01-02T03:04:05.500Z'],
    ['1767323045123', '2026-01-02T03:04:05.123Z'],
    [0, '1970-01-01T00:00:00.000Z'],
  ]) {
    assert.equal(transformed('iso_date', value), date, String(value))
  }
  for (const value of [
    '',
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-01-02T25:00:00Z',
    '01/02/2026',
    'Jan 2 2026',
    1e300,
    true,
    null,
    [],
    {},
  ]) {
    assert.equal(transformed('iso_date', value), 'DEFAULT', JSON.stringify(value))
  }
})

test('json parses text with JSON, and leaves other values alone', () => {
  assert.deepEqual(transformed('json', '{"a":[1]}'), { a: [1] })
  assert.equal(
    mapped([{ target: 'x', path: 'v', transform: 'json' }], '{"v":"{\\"id\\":12345678901234567890}"}'),
    '{"x":{"id":12345678901234567890}}',
  )
  assert.deepEqual(transformed('json', { a: 1 }), { a: 1 })
  for (const value of ['', '{', '['.repeat(1000)]) assert.equal(transformed('json', value), 'DEFAULT')
})

test('for any names, no prototype is touched, the payload stays unchanged, and a second run gives the same result', () => {
  const step = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'a',
    'b',
    '0',
    '1',
    'length',
    'rawJSON',
  )
  const path = fc.array(step, { minLength: 1, maxLength: 4 }).map((steps) => steps.join('.'))
  const key = fc.constantFrom('__proto__', 'constructor', 'prototype', 'a', 'b', '0', 'rawJSON')
  const payload = fc.letrec<{ node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('1', '1.50', '"x"', 'null', '[]'),
      fc.array(tie('node'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
      fc.dictionary(key, tie('node')).map(
        (members) =>
          `{${Object.entries(members)
            .map(([name, text]) => `"${name}":${text}`)
            .join()}}`,
      ),
    ),
  })).node
  const mappings = fc.array(
    fc.record(
      { target: path, path, default: fc.constantFrom('d', null), transform: fc.constantFrom('string', 'json', 'trim') },
      { requiredKeys: ['target', 'path'] },
    ),
    { minLength: 1, maxLength: 5 },
  )
  const before = [Object.prototype, Array.prototype, Function.prototype].map((each) =>
    Object.getOwnPropertyNames(each).join(),
  )
  fc.assert(
    fc.property(mappings, payload, (sent, text) => {
      const list = Mappings.safeParse(sent)
      fc.pre(list.success)
      const parsed = parseJson(text)
      assert.ok(parsed.ok)
      const untouched = stringifyJson(parsed.value)
      const apply = compileMappings(list.data)
      const [first, second] = [apply(source(parsed.value)), apply(source(parsed.value))]
      assert.ok(first !== 'whole' && second !== 'whole')
      assert.equal(stringifyJson(first.data), stringifyJson(second.data))
      assert.equal(stringifyJson(parsed.value), untouched)
      const record = stringifyJson(first.data)
      const texts = new RecordTexts({
        payloadBytes: () => Buffer.byteLength(text),
        bytesMax: Buffer.byteLength(record),
      })
      const bounded = apply(source(parsed.value), texts)
      assert.ok(bounded !== 'whole')
      if (!texts.tooLarge) assert.equal(bounded.text ?? stringifyJson(bounded.data), record)
      assert.deepEqual(
        [Object.prototype, Array.prototype, Function.prototype].map((each) => Object.getOwnPropertyNames(each).join()),
        before,
      )
      assert.equal(Object.getPrototypeOf(first.data), Object.prototype)
    }),
    { numRuns: 1_000 },
  )
})

test('a limited record has the same text, and stops where it is too large', () => {
  const mappings = Mappings.parse([
    { target: 'a.0', path: 'text', transform: 'uppercase' },
    { target: 'a.3', path: 'list' },
    { target: 'b', path: 'json', transform: 'json' },
    { target: 'c', value: { d: [1, null] } },
    { target: 'e', path: 'list', transform: 'string' },
    { target: 'f', path: 'none', default: 'g' },
  ])
  const payload = { text: 'straße', list: [{ x: 'y"' }, 2], json: '{"n":[1.50]}' }
  const apply = compileMappings(mappings)
  const plain = apply(source(payload))
  assert.ok(plain !== 'whole')
  const text = stringifyJson(plain.data)
  const held = new RecordTexts({ payloadBytes: () => 60, bytesMax: text.length })
  assert.deepEqual(apply(source(payload), held), { data: plain.data, text })
  assert.equal(held.tooLarge, false)
  const full = new RecordTexts({ payloadBytes: () => 60, bytesMax: text.length / 2 })
  apply(source(payload), full)
  assert.equal(full.tooLarge, true)
})
