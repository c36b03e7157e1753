import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isRawNumber } from './json-text.ts'
import { RawJson, readAnswer, stringifyAnswer } from './raw-json.ts'

test('an answer contains JSON text as it is, wherever it is', () => {
  const text = ' {"a" : 1.50,"a":2}'
  assert.equal(stringifyAnswer({ one: new RawJson(text), list: [new RawJson('1'), 2] }), `{"one":${text},"list":[1,2]}`)
  assert.equal(stringifyAnswer(new RawJson(text)), text)
  assert.equal(
    stringifyAnswer({ none: 'A', letter: '\\u0041', quoted: '"\\u0041"' }),
    '{"none":"A","letter":"\\\\u0041","quoted":"\\"\\\\u0041\\""}',
  )
})

test('a text that looks like the place of a text changes nothing', () => {
  const answer = { data: new RawJson('["\\u0041"]'), after: new RawJson('3') }
  assert.equal(stringifyAnswer(answer), '{"data":["\\u0041"],"after":3}')
})

test('every other reader gets the value', () => {
  const raw = new RawJson('{"a":1.50}')
  assert.equal(JSON.stringify({ raw }), '{"raw":{"a":1.50}}')
  assert.ok(isRawNumber(Reflect.get(Object(raw.value), 'a')))
})

test('an answer can be read with values in the places of its texts', () => {
  const raw = new RawJson('{"a":[1]}')
  assert.deepEqual(readAnswer({ one: raw, list: [raw, null, 'x'] }), { one: { a: [1] }, list: [{ a: [1] }, null, 'x'] })
})

test('an answer that cannot be written leaves no trace', () => {
  assert.throws(() => stringifyAnswer({ raw: new RawJson('1'), big: 1n }))
  assert.equal(JSON.stringify(new RawJson('2')), '2')
})
