import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedJson } from './json-start.ts'

const TEXT = '{"id":"a,]\\"}","n":[1,{"m":2}],"o":{"p":null,"q":"x"},"e":{},"t":true}'

test('every start of a JSON object becomes JSON that contains each complete member', () => {
  const whole = JSON.parse(TEXT)
  for (let length = 1; length <= TEXT.length; length += 1) {
    const closed = closedJson(TEXT.slice(0, length))
    assert.ok(closed !== undefined, `${length}`)
    const read = JSON.parse(closed)
    for (const name of Object.keys(read).slice(0, -1)) assert.deepEqual(read[name], whole[name], closed)
  }
  assert.deepEqual(JSON.parse(closedJson(TEXT) ?? ''), whole)
})

test('closedJson leaves out a value that was cut off', () => {
  assert.equal(closedJson('{"a":1,"b":"two'), '{"a":1}')
  assert.equal(closedJson('{"a":1,"b":[1,{"c":2,"d"'), '{"a":1,"b":[1,{"c":2}]}')
  assert.equal(closedJson('{"a":12'), '{}', 'more digits may follow')
  assert.equal(closedJson('[{"a":"\\u00'), '[{}]')
})

test('closedJson returns undefined for a text that is neither an object nor a list', () => {
  for (const text of ['', '"a', '12', 'true', '  ']) assert.equal(closedJson(text), undefined)
})
