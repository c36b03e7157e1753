import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJson } from './json-text.ts'

test('an object with a million keys is parsed', () => {
  const keys = Array.from({ length: 1e6 }, (_, at) => `"k${at}":1`).join(',')
  assert.ok(parseJson(`{${keys}}`).ok)
})
