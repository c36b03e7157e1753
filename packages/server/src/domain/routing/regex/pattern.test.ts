import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertLinear, sameAsRegExp } from '../../../../test/stage/patterns.ts'
import { validatePattern } from './bounds.ts'
import { compilePattern, matches } from './pattern.ts'

const found = (pattern: string, text: string): boolean => matches(compilePattern(pattern), text)

test('lookahead and lookbehind, counts of any size, the empty pattern and the legacy syntax of browsers are accepted', () => {
  const texts = [
    '',
    'a',
    'ab',
    'aab',
    'abab',
    'abcabc',
    'a\nb',
    'u{61}',
    '\u0001',
    '\\c',
    'cA',
    '😀',
    'x61',
    'k<n>',
    ']{}',
    'A1',
  ]
  for (const pattern of [
    '',
    '^$',
    '(?:)',
    '|a',
    '()',
    '[]',
    '[^]',
    '(?=a)b',
    '(?=a)ab',
    '(?!a)b',
    '^(?!.*b)',
    '(?<=a)b',
    '(?<!a)b',
    '(?<=^a+)b',
    '(?<=(?=ab)a)b',
    '(?=(?<=a)b)b',
    '(?=(?=(?=a)))a',
    '(?!(?!(?!a)))a',
    '^(?=.*a)(?=.*b)',
    '(?=a)*b',
    '(?!a){2}b',
    'a{1001}',
    'a{0,1001}b',
    '.{0,999}.{0,999}.{0,999}.{0,999}',
    '^.{1,99999999999999999999}$',
    '(?:abc){5000}',
    '(?:abc){2,5000}',
    '(?<year>a)(?<month>b)',
    '\\u0061',
    '\\u{61}',
    '\\x61',
    '\\x6',
    '\\cA',
    '\\c',
    '[\\c1]',
    '\\8',
    '\\1',
    '\\01',
    '\\k<n>',
    ']',
    '{',
    'a{,2}',
    '\\a',
    '\\u{1}',
    '\\p{L}',
    '^.$',
    '^..$',
    '[😀]',
    '^[😀]$',
    '\\ud83d',
    '(?i:AB)',
    '(?i:a(?-i:B))',
    '(?m:^b)',
    'a(?s:.)b',
    'A',
  ])
    sameAsRegExp(pattern, texts)
})

test('an iteration that consumes nothing counts toward the minimum, and ends the repetition beyond it', () => {
  const texts = ['', 'a', 'aa', 'aaa', 'aaaa', 'b', 'ba', 'ab', 'aab']
  const bodies = [
    '^',
    '$',
    '\\b',
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    'a?',
    'a?b?',
    '(?=a)a?',
    '(?:a?)?',
    '(?=b)a?',
    '^a?',
    'a?$',
  ]
  for (const body of bodies) {
    for (const times of ['*', '+', '{2}', '{3}', '{3,}', '{2,4}', '{0,3}', '{7}', '{7,}', '{2,}?'])
      for (const pattern of [
        `(?:${body})${times}`,
        `^(?:${body})${times}$`,
        `b(?:${body})${times}`,
        `(?<=^(?:${body})${times})b`,
      ])
        sameAsRegExp(pattern, texts)
  }
  for (const body of ['^', '(?=a)', '']) sameAsRegExp(`(?:${body}){5000}a`, texts)
  for (const times of ['{5000}', '{5000,}', '{1000000,2000000}']) {
    assert.ok(found(`^(?:a?)${times}$`, 'aaa'))
    assert.ok(!found(`^(?:a?)${times}$`, 'aab'))
    assert.ok(found(`^(?:a?b?)${times}$`, 'aab'.repeat(85)))
    assert.ok(found(`(?<=^(?:a?)${times})b`, 'aaab'))
  }
})

test('counts are exact up to the 256 characters that are tested', () => {
  const text = 'a'.repeat(256)
  for (const [pattern, holds] of [
    ['^a{256}$', true],
    ['^a{257}', false],
    ['^a{0,255}$', false],
    ['^a{255,}$', true],
    ['^a{1,1000000}$', true],
    ['^(?:aa){128}$', true],
    ['^(?:aa){129}', false],
    ['^(?:aa){0,127}$', false],
    ['^(?:aa){0,5000}$', true],
    ['^(?:aaa)+$', false],
    ['(?<=^a{256})$', true],
    ['(?<=a{257})', false],
    ['(?<=^(?:aa){0,127})$', false],
    ['(?<=^(?:aa){0,128})$', true],
    ['^(?=a{256}$)', true],
    ['^(?!a{257})', true],
  ] as const)
    assert.equal(found(pattern, text), holds, pattern)
  assert.ok(!found('b', `${text}b`))
})

test('a lookbehind works over any distance', () => {
  const texts = [0, 1, 22, 30, 31, 32, 33, 62, 63, 64, 65, 250].flatMap((length) =>
    ['ab', 'ba', 'aab', 'b', 'abba'].map((text) => '中'.repeat(length) + text),
  )
  for (const pattern of [
    '(?<=中{31}a)b',
    '(?<=^中{0,32}a)b',
    '(?<!中{32,}a?)b',
    '(?<=^.*)b',
    '(?<!^[^]{33})b$',
    '(?<=(?:中中){16}a*)b',
    '(?<=^(?:中中中)*a?)b',
    '(?<=(?=中{5,40}ab)中+)a',
    '(?<=(?<!中)中{32}(?=a))',
    '(?<=^中{63}|^中{64}a)b',
    '(?<=\\b)b(?<=(?<!b)\\B.)',
    '^(?=中*a(?<=中{31}a)b)',
  ])
    sameAsRegExp(pattern, texts)
})

test('a modifier applies only to its group', () => {
  for (const [pattern, text, holds] of [
    ['(?i:ab)c', 'ABc', true],
    ['(?i:ab)c', 'ABC', false],
    ['(?i:a(?-i:b))', 'Ab', true],
    ['(?i:a(?-i:b))', 'aB', false],
    ['(?i:a(?-i:b)c)', 'AbC', true],
    ['(?i:a|b)(?<![ab])', 'A', true],
    ['a|(?i:b|c)(?<=C)', 'C', true],
    ['(?i:[^a])', 'A', false],
    ['(?i:ä)', 'Ä', true],
    ['(?m:^b)', 'a\nb', true],
    ['(?m:^)b|^c', 'a\nc', false],
    ['(?m:a$)', 'a\nb', true],
    ['(?m:(?-m:a$))', 'a\nb', false],
    ['a(?s:.)b', 'a\nb', true],
    ['(?s:a(?-s:.)b)', 'a\nb', false],
    ['(?s:(?i-s:A.)B)', 'a\nB', false],
  ] as const)
    assert.equal(found(pattern, text), holds, `${pattern} on ${JSON.stringify(text)}`)
})

const nested = (open: string, depth: number): string => `${open.repeat(depth)}a${')'.repeat(depth)}`
const optional = (depth: number): string => `${'(?:a'.repeat(depth)}${')?'.repeat(depth)}`

test('the work is bounded by the length of the pattern times the 256 characters that are tested', () => {
  const texts = ['a'.repeat(256), `${'a'.repeat(255)}b`, `b${'a'.repeat(255)}`, 'ab'.repeat(128), 'abc'.repeat(85)]
  for (const pattern of [
    '.*.*x',
    '^[^]*[^]*$',
    '^a*a*$',
    'a*a*a{0,99}b',
    '^a{0,255}a{0,255}a{0,255}a{0,255}b',
    `^${'a{0,9999}'.repeat(21)}b`,
    `^${'a?'.repeat(98)}b`,
    `^${'(?:ab){0,99}'.repeat(16)}b$`,
    `^${'(?:a{0,1}){0,9}'.repeat(13)}b$`,
    `^(?:${'a?'.repeat(90)}){999999}b`,
    `(?:${'a?'.repeat(90)}){999999}b`,
    `(?:${'a?'.repeat(90)})*b$`,
    `(?:${'(?:a?b)?'.repeat(20)}){300,}c`,
    `(?:${'[ab]?[^c]?'.repeat(18)}){999}c`,
    `^(?:${optional(31)}){1,999}b`,
    `^(?:a|${'(?=a)'.repeat(37)}a){1}$`,
    `(?:${'(?=a)'.repeat(37)}a){256}$`,
    `(?:${'(?=a)(?<=a)'.repeat(16)}a){3,}$`,
    `(?:${'a(?=b)b(?<=ab)'.repeat(12)}a?)*$`,
    `(?:${'\\b\\w'.repeat(46)}a?)*$`,
    `(?:${'a'.repeat(180)}a?){9}$`,
    nested('(?=', 49),
    nested('(?=.', 39),
    nested('(?!.', 39),
    nested('(?<=.', 33),
    `${'(?=a(?<=a'.repeat(18)}${'))'.repeat(18)}`,
    '(?=.*a)(?=.*b)',
    '^(?=[^]*a)(?<=[^]*)$',
    '(?<=.*)b(?<=a.*)',
    '(?<=^.*a)(?<!b.*)$',
    `${'(?=a{0,999}b)'.repeat(15)}$`,
    Array.from({ length: 99 }, () => 'a').join('|'),
    `^(?:${Array.from({ length: 90 }, () => 'a').join('|')})b`,
    `(?:${Array.from({ length: 60 }, () => 'a?').join('|')})$`,
    'a'.repeat(200),
    '[ab]'.repeat(50),
  ]) {
    assert.equal(validatePattern(pattern), undefined, pattern)
    assertLinear(pattern, texts)
  }
})
