import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { indentJson } from './indent-json.ts'
import { cut, plain, plainLines, widthOf } from './plain.ts'
import { table } from './table.ts'
import { duration, listMoment, moment } from './time.ts'

test('a table is never wider than the terminal while its columns can be cut or left out', () => {
  const cells = fc.array(
    fc.tuple(
      fc.string({ maxLength: 60, unit: 'grapheme' }),
      fc.string({ maxLength: 60, unit: 'grapheme' }),
      fc.string({ maxLength: 60 }),
    ),
    { minLength: 1, maxLength: 5 },
  )
  fc.assert(
    fc.property(cells, fc.integer({ min: 40, max: 120 }), (rows, width) => {
      const text = table(
        [
          { head: 'Fixed', cells: rows.map(() => 'rec_1') },
          { head: 'Cut', cells: rows.map(([first]) => first), least: 10 },
          { head: 'Cut too', cells: rows.map(([, second]) => second), least: 10 },
          { head: 'Spare', cells: rows.map(([, , third]) => third), spare: true },
        ],
        width,
      )
      const lines = text.split('\n')
      assert.equal(lines.length, rows.length + 1)
      for (const line of lines) assert.ok(widthOf(line) <= width, line)
    }),
  )
})

test('a table aligns columns with their heads, and numbers to the right; it leaves out empty columns and columns without room', () => {
  const columns = [
    { head: 'State', cells: ['● on', '○ off'] },
    { head: 'Tries', cells: ['1', '12'], align: 'right' },
    { head: 'Name', cells: ['a longer name', '日本語'], least: 6 },
    { head: 'Nothing', cells: ['', ''] },
    { head: 'Note', cells: ['first', 'second'], spare: true },
  ] as const
  assert.equal(
    table(columns, 80),
    'State  Tries  Name           Note\n● on       1  a longer name  first\n○ off     12  日本語         second',
  )
  assert.equal(table(columns, 22), 'State  Tries  Name\n● on       1  a longe…\n○ off     12  日本語')
})

test('text that others wrote cannot control the terminal', () => {
  assert.equal(plain('a\u001b[2Jb\u009bc\rd\u202ee\nf'), 'a\\x1b[2Jb\\x9bc\\x0dd\\u202ee\\x0af')
  assert.equal(plainLines('one\r\ntwo\tthree\u0007'), 'one\ntwo  three\\x07')
})

test('the width of a cut text counts columns, not characters', () => {
  assert.equal(cut('abcdef', 6), 'abcdef')
  assert.equal(cut('abcdef', 5), 'abcd…')
  assert.equal(cut('日本語', 4), '日…')
})

test('the layout of JSON changes no character of it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      assert.equal(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2))
    }),
  )
  assert.equal(
    indentJson('{"n":1.50e400,"n":[ ],"s":"a\\"{,}"}'),
    '{\n  "n": 1.50e400,\n  "n": [],\n  "s": "a\\"{,}"\n}',
  )
})

test('times are absolute with milliseconds, durations short', () => {
  assert.equal(moment('2026-01-15T12:00:00.004Z'), '2026-01-15 12:00:00.004 UTC')
  assert.equal(listMoment('2026-01-15T12:00:00.004Z'), '01-15 12:00:00.004')
  assert.deepEqual([12, 1_234, 200_000].map(duration), ['12 ms', '1.2 s', '3 min 20 s'])
})
