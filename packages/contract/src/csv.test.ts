import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine } from './csv.ts'

test('a line ends with CRLF and has quoted texts, doubled quotes, and an empty cell for null', () => {
  assert.equal(csvLine(['a', null, 'say "hi"', 'x,y;z\nw', '']), '"a",,"say ""hi""","x,y;z\nw",""\r\n')
})

test('a text that a spreadsheet would run as a formula gets an apostrophe in front', () => {
  for (const text of [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    '\r=1',
    '\n=1',
    '\tx',
    '\rx',
    '  =1',
    '\u00a0=1',
    '＝1',
    '＠x',
  ]) {
    assert.equal(csvLine([text]), `"'${text}"\r\n`)
  }
})

test('any other text stays unchanged', () => {
  for (const text of ['a=b', '1-2', 'me@example.com', '{"a":"=1"}', '2026-01-15T12:00:00.000Z', "'"])
    assert.equal(csvLine([text]), `"${text.replaceAll('"', '""')}"\r\n`)
})
