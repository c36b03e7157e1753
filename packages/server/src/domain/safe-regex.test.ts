import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { compilePattern, whyUnsafe } from './safe-regex.ts'

test('patterns within the bounds are safe', () => {
  for (const pattern of [
    '^order\\.(created|paid)$',
    '\\d+',
    'a*b+',
    'a{2,}',
    '(abc)+',
    '(?:ab)?',
    '(a|b)?',
    '[a-z]{1,63}',
    '(?i:paid)',
    '^$',
    '\\bx\\b',
    '(?<year>\\d{4})',
    'ü',
    '^a{0,255}a{0,255}a{0,255}a{0,255}b',
    'a*a*a{0,99}b',
    '\\/v1\\/',
    'a\\u0041',
    '(ab){2,3}',
  ]) {
    assert.equal(whyUnsafe(pattern), undefined, pattern)
  }
})

test('more than 200 characters and what does not compile are refused', () => {
  assert.match(whyUnsafe('a'.repeat(201)) ?? '', /more than 200/)
  assert.equal(whyUnsafe('a'.repeat(200)), undefined)
  for (const pattern of ['(', '[a', 'a**', '*', '(?P<n>a)', 'a{2,1}'])
    assert.match(whyUnsafe(pattern) ?? '', /does not compile/, pattern)
})

test('back references are refused', () => {
  for (const pattern of ['(a)\\1', '(?<n>a)\\k<n>']) assert.match(whyUnsafe(pattern) ?? '', /refers back/, pattern)
})

test('a repeated group that itself repeats or alternates is refused, however deep', () => {
  for (const pattern of ['(a+)+', '(a|b)*', '(?:a{2})+', '((a|b))+', '(x(y(z*)))+', '(a*){2}', '(?:(?:ab)+c){1,3}']) {
    assert.match(whyUnsafe(pattern) ?? '', /repeats a group/, pattern)
  }
})

test('more than two open-ended repetitions are refused', () => {
  for (const pattern of ['a*b*c*', 'a+b+c+', 'a{1,}b*c+', '.*.*.*'])
    assert.match(whyUnsafe(pattern) ?? '', /3 open-ended/, pattern)
})

test('what the linear-time engine does not have, or would take too long to build, is refused', () => {
  for (const pattern of ['(?=a)b', '(?<!a)b']) assert.match(whyUnsafe(pattern) ?? '', /looks ahead/, pattern)
  assert.match(whyUnsafe('a{1001}') ?? '', /linear-time engine/)
  assert.match(whyUnsafe('.{0,999}'.repeat(4)) ?? '', /smaller counts/)
})

test('any text at all is judged without a throw, and what is called safe compiles', () => {
  const soup = fc.string({ unit: fc.constantFrom(...'ab0(){}[]|*+?^$.\\,-:<>=!dwsbk'.split('')), maxLength: 30 })
  fc.assert(
    fc.property(fc.oneof(soup, fc.string()), (pattern) => {
      if (whyUnsafe(pattern) === undefined) compilePattern(pattern)
    }),
    { numRuns: 500 },
  )
})

test('on safe patterns the linear-time engine gives the answer of RegExp', () => {
  const atom = fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^a]', '\\w', '\\d', '(ab)', '(?:a|bc)', '\\b')
  const piece = fc.tuple(atom, fc.constantFrom('', '', '', '?', '{0,3}', '{2}', '*', '+'))
  const body = fc
    .array(piece, { minLength: 1, maxLength: 6 })
    .map((pieces) => pieces.map((pair) => pair.join('')).join(''))
  const pattern = fc.tuple(fc.constantFrom('', '^'), body, fc.constantFrom('', '$')).map((parts) => parts.join(''))
  const subject = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' '), maxLength: 12 })
  fc.assert(
    fc.property(pattern, subject, (source, text) => {
      if (whyUnsafe(source) !== undefined) return
      assert.equal(
        compilePattern(source).test(text),
        new RegExp(source).test(text),
        `${source} on ${JSON.stringify(text)}`,
      )
    }),
    { numRuns: 2_000 },
  )
})
