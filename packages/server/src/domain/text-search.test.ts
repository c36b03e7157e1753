import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileSearch, LongSearch, unescaped } from './text-search.ts'

const random = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

test('a search agrees with includes, for needles of every length', () => {
  const next = random(7)
  const letters = (count: number) => Array.from({ length: count }, () => (next() < 0.8 ? 'a' : 'b')).join('')
  for (let round = 0; round < 300; round += 1) {
    const text = letters(2_000)
    const length = 150 + Math.floor(next() * 400)
    const at = Math.floor(next() * 1_400)
    const needle = round % 2 === 0 ? text.slice(at, at + length) : letters(length)
    assert.equal(compileSearch(needle)(text), text.includes(needle))
    assert.equal(compileSearch(needle)(''), false)
  }
  assert.equal(compileSearch('')(''), true)
  assert.equal(compileSearch('x'.repeat(300))('x'.repeat(300)), true)
})

test('a search for a long needle compares each character of both at most twice', () => {
  const text = 'a'.repeat(100_000)
  for (const needle of [
    `${'a'.repeat(4_000)}b${'a'.repeat(4_000)}`,
    `${'ab'.repeat(4_000)}a`,
    `b${'a'.repeat(8_000)}`,
  ]) {
    const search = new LongSearch(needle)
    assert.equal(search.isIn(text), false)
    assert.ok(search.compared <= 2 * (text.length + needle.length), `${search.compared}`)
  }
})

test('the escapes of a JSON text are replaced by their characters, once', () => {
  for (const value of ['é', 'a/b', 'say "hi"', 'line\nend\ttab', '\\u00e9', '\u{1F600}', '\\\\', ''])
    assert.equal(unescaped(JSON.stringify(value)), `"${value}"`)
  assert.equal(unescaped(String.raw`"caf\u00e9 \ud83d\uDE00 \/ \\n"`), String.raw`"café 😀 / \n"`)
  assert.equal(unescaped(String.raw`"\u12"`), '"u12"')
})
