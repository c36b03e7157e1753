import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseStoredJson, stringifyJson } from '../json/json-text.ts'
import { compilePath } from '../routing/dot-path.ts'
import { outlineOf } from './outline.ts'

const outline = (text: string, paths: readonly string[]): string => {
  const parsed = parseStoredJson(text)
  assert.ok(parsed.ok)
  return stringifyJson(outlineOf(parsed.value, paths.map(compilePath)))
}

test('an outline has the values at its paths, with every digit, and nothing else', () => {
  assert.equal(
    outline('{"id":1.50,"type":"ping","more":{"big":[1,2]},"list":[{"id":"x"}]}', ['id', 'type', 'list.0.id', 'none']),
    '{"id":1.50,"type":"ping","list":{"0":{"id":"x"}}}',
  )
})

test('a list or an object at a path is empty, unless another path leads into it', () => {
  const text = '{"event":{"a":1,"b":[2]},"payload":{"plainToken":"t","c":3}}'
  assert.equal(outline(text, ['event', 'payload.plainToken']), '{"event":{},"payload":{"plainToken":"t"}}')
  assert.equal(outline(text, ['event.a', 'event', 'event.b']), '{"event":{"a":1,"b":{}}}')
})

test('a payload without members has no outline, and __proto__ is only a name', () => {
  assert.equal(outline('"text"', ['id']), 'null')
  assert.equal(outline('1.50', ['id']), 'null')
  assert.equal(outline('{"__proto__":{"x":1}}', ['__proto__.x']), '{"__proto__":{"x":1}}')
})
