import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { assertLinear, sameAsRegExp } from '../../../../test/stage/patterns.ts'
import { validatePattern } from './bounds.ts'
import { compilePattern, matches } from './pattern.ts'

/**
 * `REGEX_RUNS=1000000 npm test -- regex/pattern` compares a million random patterns with `RegExp` instead of 10,000.
 * `REGEX_SEED=…` repeats a run with the seed that a failure prints.
 */
const RUNS = Number(process.env['REGEX_RUNS'] ?? 10_000)
const SEED = process.env['REGEX_SEED'] === undefined ? {} : { seed: Number(process.env['REGEX_SEED']) }

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

/**
 * Patterns of the whole grammar. Most of the repeated parts neither repeat nor alternate, so most patterns are within the
 * limits.
 */
function patternsOf(unit: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const small = { maxDepth: 2, depthSize: 'small' } as const
  const { pattern } = fc.letrec<Record<'solid' | 'plainPiece' | 'plain' | 'piece' | 'sequence' | 'pattern', string>>(
    (tie) => ({
      // Parts that RegExp can repeat a thousand times without trying all combinations.
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

/** Gives each group a unique name, because V8 accepts some patterns with duplicate names that the language refuses. */
function withOwnNames(pattern: string): string {
  let names = 0
  return pattern.replaceAll('(?<n>', () => `(?<n${(names += 1)}>`)
}

const LONG_TEXTS = ['a'.repeat(256), 'ab'.repeat(128)]

/** With more repetitions RegExp can take minutes, even for ten characters. */
const REPETITIONS_MAX = 20

function compiles(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp
  } catch {
    return false
  }
}

test('every pattern within the limits gives the answer of RegExp, and a pattern that RegExp does not compile is refused', () => {
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
        const why = validatePattern(pattern)
        assert.equal(why?.includes('does not compile') !== true, compiles(pattern), pattern)
        if (why !== undefined) return void (seen.refused += 1)
        // A lookbehind could repeat over the text added in front, and RegExp would take hours.
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
    `The patterns cover too little: ${JSON.stringify(seen)}`,
  )
})

test('a class, an escape and a letter in any case match the same code units as in RegExp', () => {
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
