import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { whyUnsafe } from './bounds.ts'
import { Matcher } from './matcher.ts'
import { compilePattern, matches } from './pattern.ts'

/**
 * `REGEX_RUNS=1000000 npm test -- regex/pattern` compares a million random patterns with `RegExp` instead of 10,000;
 * `REGEX_SEED=…` repeats a run, with the seed that a failure prints.
 */
const RUNS = Number(process.env['REGEX_RUNS'] ?? 10_000)
const SEED = process.env['REGEX_SEED'] === undefined ? {} : { seed: Number(process.env['REGEX_SEED']) }

const found = (pattern: string, text: string): boolean => matches(compilePattern(pattern), text)

/** Flags are modifiers of a group here, and flags of RegExp there, since V8 mixes up what it knows of modifiers. */
function sameAsRegExp(pattern: string, texts: readonly string[], flags = ''): readonly boolean[] {
  const withFlags = flags === '' ? pattern : `(?${flags}:${pattern})`
  assert.equal(whyUnsafe(withFlags), undefined, withFlags)
  const compiled = compilePattern(withFlags)
  const regExp = new RegExp(pattern, flags)
  return texts.map((text) => {
    const answer = matches(compiled, text)
    assert.equal(answer, regExp.test(text), `${withFlags} on ${JSON.stringify(text)}`)
    return answer
  })
}

const LETTERS = 'aaaaabbbbcc1 AB_-\n\r\u2028éÉſsSkK\u212a{}u,0x\u0001\b\ud83d\ude00'.split('')

const ANY_UNIT = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'c') },
  { weight: 2, arbitrary: fc.constantFrom('.', '\\w', '\\W', '\\d', '\\D', '\\s', '\\S', '[]', '[^]') },
  { weight: 2, arbitrary: fc.constantFrom('[ab]', '[^a]', '[^\\w]', '[\\s\\S]', '[a-c]', '[\\w-a]', '[-a]', '[a-]') },
  fc.constantFrom(
    'A',
    'S',
    'k',
    'é',
    'ſ',
    '\u212a',
    '1',
    ' ',
    '_',
    '-',
    ']',
    '{',
    '}',
    '\\.',
    '\\-',
    '\\/',
    '\\a',
    '\\k',
  ),
  fc.constantFrom('\\x61', '\\u0061', '\\u00e9', '\\x4', '\\u6', '\\07', '\\8', '\\1', '\\0', '\\cA', '\\c', '\\n'),
  fc.constantFrom(
    '[\\b]',
    '[\\cA]',
    '[\\c_]',
    '[\\1]',
    '[\\u0061-\\x63]',
    '[^\\d\\s]',
    '[\\W_]',
    '[é-\uffff]',
    '[A-z]',
  ),
  fc.constantFrom('😀', '[😀]', '\\ud83d', '\\ude00', '[^😀]', '\\ud83d\\ude00', 'a{', 'a{,2}', 'a{x}', '\\p{L}'),
)
const FEW_UNITS = fc.constantFrom('a', 'a', 'b', '.', '[^a]')

const place = fc.constantFrom('^', '$', '\\b', '\\B', '\\u{2}', '')
const once = fc.constantFrom('', '', '', '', '?', '??', '{1}', '{0}', '{0,1}')
const count = fc
  .tuple(
    fc.constantFrom('*', '+', '{2}', '{0,2}', '{1,3}', '{2,}', '{0,}', '{3}', '{2,4}'),
    fc.constantFrom('', '', '?'),
  )
  .map((parts) => parts.join(''))
const bigCount = fc.constantFrom('{1001}', '{0,5000}', '{1,2000}', '{0,99999999999}', '{300}')
const opening = fc.constantFrom('(?:', '(', '(?<n>', '(?m:', '(?s:', '(?-s:', '(?s-m:')
const lookingAhead = fc.constantFrom('(?=', '(?!')
const looking = fc.constantFrom('(?=', '(?!', '(?<=', '(?<!')

const inARow = (parts: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(parts, { minLength: 1, maxLength }).map((list) => list.join(''))
const inGroup = (open: fc.Arbitrary<string>, inside: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(open, inside).map(([before, body]) => `${before}${body})`)
const repeated = (body: fc.Arbitrary<string>, times: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(body, times).map((parts) => parts.join(''))

/** Patterns of the whole grammar. Most of what they repeat neither repeats nor alternates, so most are within the bounds. */
function patternsOf(unit: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const small = { maxDepth: 2, depthSize: 'small' } as const
  const { pattern } = fc.letrec<Record<'solid' | 'plainPiece' | 'plain' | 'piece' | 'sequence' | 'pattern', string>>(
    (tie) => ({
      // What RegExp repeats a thousand times without trying all ways to do it.
      solid: inARow(fc.oneof(small, unit, place, inGroup(looking, tie('solid'))), 3),
      plainPiece: fc.oneof(
        small,
        { weight: 5, arbitrary: repeated(unit, once) },
        place,
        repeated(inGroup(opening, tie('plain')), once),
        inGroup(looking, tie('plain')),
      ),
      plain: inARow(tie('plainPiece'), 3),
      piece: fc.oneof(
        small,
        { weight: 8, arbitrary: unit },
        { weight: 4, arbitrary: repeated(unit, fc.oneof(once, count, bigCount)) },
        { weight: 2, arbitrary: place },
        { weight: 2, arbitrary: repeated(inGroup(opening, tie('plain')), count) },
        repeated(inGroup(opening, tie('solid')), bigCount),
        repeated(inGroup(lookingAhead, tie('plain')), fc.oneof(count, bigCount)),
        { weight: 2, arbitrary: repeated(inGroup(opening, tie('pattern')), once) },
        { weight: 3, arbitrary: inGroup(looking, tie('pattern')) },
      ),
      sequence: inARow(tie('piece'), 4),
      pattern: fc
        .tuple(tie('sequence'), fc.option(tie('sequence'), { freq: 3 }))
        .map(([first, second]) => (second === null ? first : `${first}|${second}`)),
    }),
  )
  return pattern.map(withOwnNames)
}

/** Each group gets a name of its own: V8 accepts some patterns that name two groups alike and that the language refuses. */
function withOwnNames(pattern: string): string {
  let names = 0
  return pattern.replaceAll('(?<n>', () => `(?<n${(names += 1)}>`)
}

/** More than this many steps for each character of the pattern, and each character that it looks at, would not be linear. */
const STEPS_MAX = 4
const LONG_TEXTS = ['a'.repeat(256), 'ab'.repeat(128)]

function assertLinear(pattern: string, texts: readonly string[]): void {
  const { program } = compilePattern(pattern)
  const matcher = new Matcher()
  for (const text of texts) {
    matcher.finds(program, text)
    const { steps } = matcher
    assert.ok(steps <= STEPS_MAX * (pattern.length + 1) * 256, `${pattern} takes ${steps} steps on ${text}`)
  }
}

/** With more repetitions RegExp can take minutes, even for ten characters. */
const REPETITIONS_MAX = 20

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}

test('every pattern within the bounds gives the answer of RegExp, and what RegExp does not compile is refused', () => {
  const subject = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 }),
    fc.string({ unit: fc.constantFrom(...LETTERS), maxLength: 10 }),
  )
  const seen = { refused: 0, yes: 0, no: 0 }
  fc.assert(
    fc.property(
      fc.oneof(patternsOf(ANY_UNIT), patternsOf(FEW_UNITS)),
      fc.array(subject, { minLength: 2, maxLength: 4 }),
      fc.record({ behindMore: fc.boolean(), flags: fc.constantFrom('', '', '', 'i', 'm', 's', 'ims') }),
      (pattern, texts, { behindMore, flags }) => {
        fc.pre(pattern.length <= 175 && (pattern.match(/[?*+{]/g)?.length ?? 0) <= REPETITIONS_MAX)
        const why = whyUnsafe(pattern)
        assert.equal(why?.includes('does not compile') !== true, compiles(pattern), pattern)
        if (why !== undefined) return void (seen.refused += 1)
        // A lookbehind could repeat itself over what was put before the text, and RegExp would take hours.
        const answers =
          behindMore && !pattern.includes('(?<')
            ? sameAsRegExp(
                `^中{27}(?:${pattern})`,
                texts.map((text) => '中'.repeat(27) + text),
                flags,
              )
            : sameAsRegExp(pattern, texts, flags)
        for (const answer of answers) seen[answer ? 'yes' : 'no'] += 1
        assertLinear(pattern, LONG_TEXTS)
      },
    ),
    { numRuns: RUNS, ...SEED },
  )
  const { refused, yes, no } = seen
  assert.ok(
    refused < RUNS / 4 && yes > RUNS / 2 && no > RUNS / 2,
    `The patterns say too little: ${JSON.stringify(seen)}`,
  )
})

test('lookahead and lookbehind, counts of any size, the empty pattern and the syntax of the web are accepted', () => {
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

test('an iteration that consumes nothing counts towards the least number, and ends the repetition after it', () => {
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

test('counts are exact up to the 256 characters that are looked at', () => {
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

test('what looks behind does so over any distance', () => {
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

test('a class, an escape and a letter without its case hold for the same code units as in RegExp', () => {
  const units = Array.from({ length: 0x10000 }, (_unused, unit) => String.fromCharCode(unit))
  const assertSame = (pattern: string, regExp: RegExp): void => {
    const compiled = compilePattern(pattern)
    const differs = units.filter((each) => matches(compiled, `${each}x`) !== regExp.test(`${each}x`))
    assert.deepEqual(differs, [], pattern)
  }
  for (const one of [
    '.',
    '\\d',
    '\\D',
    '\\s',
    '\\S',
    '\\w',
    '\\W',
    '[^\\s\\d]',
    '[\\W\\d]',
    '[^]',
    '[é-\\uffff]',
    '(?s:.)',
    '\\bx',
  ])
    assertSame(`^${one}`, new RegExp(`^${one}`))
  for (const one of [
    'a',
    'K',
    'ſ',
    '\\u212a',
    'é',
    'ß',
    'ı',
    'İ',
    'ÿ',
    'Ÿ',
    'µ',
    'μ',
    'θ',
    'ǅ',
    '\\u1e9e',
    'Ω',
    '\\u2126',
    'å',
    '\\u212b',
    '[^a-k]',
    '[\\u0100-\\u0fff]',
    '\\W',
    '\\w',
    '[^\\W]',
    '[\\W]',
    '[^ÿ]',
    '[À-Þ]',
    '[\\u1c80-\\u2dff]',
    '[Ꭰ-Ᏽꭰ-ꮿ]',
  ])
    assertSame(`^(?i:${one})`, new RegExp(`^${one}`, 'i'))
})

test('a modifier holds for its group and for nothing else', () => {
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

test('the work is bounded by the length of the pattern times the 256 characters that are looked at', () => {
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
    assert.equal(whyUnsafe(pattern), undefined, pattern)
    assertLinear(pattern, texts)
  }
})
