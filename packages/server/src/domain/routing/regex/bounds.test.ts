import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { validatePattern } from './bounds.ts'
import { compilePattern, matches } from './pattern.ts'

test('patterns within the bounds are accepted', () => {
  for (const pattern of [
    '',
    '^order\\.(created|paid)$',
    '\\d+',
    'a*b+',
    'a{2,}',
    '(abc)+',
    '(?:ab)?',
    '(a|b)?',
    '(a|b){0,1}',
    '(?:a?b)+',
    '(?:(?:a){1})+',
    '(?=a|b)c',
    '(?:(?=a)b)*',
    '(?=a*)(?!b*)',
    '[a-z]{1,63}',
    'a{1001}',
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
    assert.equal(validatePattern(pattern), undefined, pattern)
  }
})

test('a pattern of more than 200 characters is refused with its length', () => {
  assert.equal(validatePattern('a'.repeat(200)), undefined)
  assert.equal(validatePattern('a'.repeat(201)), 'The pattern has 201 characters. Shorten it to at most 200.')
})

test('a pattern that does not compile is refused with the reason and the place', () => {
  for (const pattern of ['(', '[a', 'a**', '*', '(?P<n>a)', 'a{2,1}', '(?<=a)*', '(?<n>a)(?<n>b)', '\\'])
    assert.match(
      validatePattern(pattern) ?? '',
      /^The pattern does not compile: .+, near character \d+\. Correct it there\.$/,
    )
  assert.match(validatePattern('ab(c') ?? '', /: Unterminated group, near character 4\./)
  assert.match(validatePattern('/: [b-a]') ?? '', /: Range out of order in character class, near character \d\./)
})

test('a reference back to a group is refused with its place', () => {
  for (const [pattern, place] of [
    ['(a)\\1', '\\1 at character 4'],
    ['(?<n>a)b\\k<n>', '\\k<n> at character 9'],
    ['\\1(a)', '\\1 at character 1'],
  ] as const)
    assert.equal(
      validatePattern(pattern),
      `The pattern refers back to a group with ${place}. Write out the text that the group stands for.`,
    )
})

test('a repeated group that itself repeats or alternates is refused with its place, however deep', () => {
  for (const [pattern, place] of [
    ['(a+)+', '(a+)+ at character 1'],
    ['^(a|b)*', '(a|b)* at character 2'],
    ['(?:a{2})+', '(?:a{2})+ at character 1'],
    ['x((a|b))+', '((a|b))+ at character 2'],
    ['(x(y(z*)))+', '(x(y(z*)))+ at character 1'],
    ['(a*){2}', '(a*){2} at character 1'],
    ['(?:(?:ab)+c){1,3}', '(?:(?:ab)+c){1,3} at character 1'],
    ['(?:(?=a|b)c)+', '(?:(?=a|b)c)+ at character 1'],
    ['(?=a+)*', '(?=a+)* at character 1'],
    [`(${'x'.repeat(50)}|y)+`, `(${'x'.repeat(39)}… at character 1`],
  ] as const)
    assert.equal(
      validatePattern(pattern),
      `The pattern repeats a group that itself repeats or alternates: ${place}. Repeat only groups without *, +, {n} and |.`,
    )
})

test('more than two open-ended repetitions are refused with the place of the third', () => {
  for (const [pattern, place] of [
    ['a*b*c*', 'c* at character 5'],
    ['a+b+c+', 'c+ at character 5'],
    ['a{1,}b*c+', 'c+ at character 8'],
    ['.*.*(?=.*)', '.* at character 8'],
  ] as const)
    assert.equal(
      validatePattern(pattern),
      `The pattern has 3 open-ended repetitions (*, +, {n,}), and at most 2 are allowed. Give ${place} an upper limit, such as {0,50}.`,
    )
})

test('any text is judged without an exception, and an accepted pattern compiles and runs', () => {
  const anyUnit = fc.nat(0xffff).map((unit) => String.fromCharCode(unit))
  const soup = fc.string({ unit: fc.constantFrom(...'ab0(){}[]|*+?^$.\\,-:<>=!dwsbkuxci'.split('')), maxLength: 30 })
  fc.assert(
    fc.property(fc.oneof(soup, fc.string(), fc.string({ unit: anyUnit })), (pattern) => {
      if (validatePattern(pattern) === undefined) matches(compilePattern(pattern), pattern)
    }),
    { numRuns: 500 },
  )
})
