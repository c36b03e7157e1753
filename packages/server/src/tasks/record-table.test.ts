import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { LIMITS } from '@postroad/contract'
import { flatten } from '../domain/capture/flatten.ts'
import { Sheet, type Column, type Row } from '../domain/capture/record-sheet.ts'
import { parseJson, parseStoredJson, stringifyJson } from '../domain/json/json-text.ts'
import { keysOfList } from './key-lists.ts'
import { columnsIn, rowsOf } from './record-table.ts'

const recordOf = (payload: unknown, at = 0) => ({
  id: `rec_${at}`,
  received_at: `t${at}`,
  source: 'endpoint_url',
  data: stringifyJson(payload),
})

function valueOfText(text: string): Row {
  const parsed = parseStoredJson(text)
  assert.ok(parsed.ok)
  return parsed.value as Row
}

const named = (names: readonly string[]): Column[] => names.map((key) => ({ key, label: key }))

function sheet(payloads: readonly unknown[], view: readonly Column[] | null, charsMax = 1_000_000) {
  const made = new Sheet(charsMax)
  const written = rowsOf({ records: payloads.map(recordOf), view, charsMax })
  const went = written.rows.map((row, at) => row !== null && made.add(row, keysOfList(written, at)))
  return { rows: made.rows.map(valueOfText), keys: [...made.keys], went }
}

/** Values that are the same after they were written and read. */
const leaf = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  fc.string(),
  fc.boolean(),
  fc.constant(null),
)
const payload = fc.dictionary(
  fc.string({ maxLength: 4 }),
  fc.oneof(
    leaf,
    fc.array(leaf, { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 3 }), leaf, { noNullPrototype: true }),
  ),
  { maxKeys: 5, noNullPrototype: true },
)

test('without a view a row is the meta columns and the flattened payload, and the keys are those of all rows', () => {
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), (payloads) => {
      const { rows, keys } = sheet(payloads, null)
      const flat = payloads.map((one) => flatten(one)?.columns ?? {})
      assert.deepEqual(new Set(keys), new Set(flat.flatMap((one) => Object.keys(one))))
      rows.forEach((row, at) => {
        const { _id, _received_at, _source, ...rest } = row
        assert.deepEqual([_id, _received_at, _source, rest], [`rec_${at}`, `t${at}`, 'endpoint_url', { ...flat[at] }])
      })
    }),
  )
})

test('a view can show every column of a row without a view', () => {
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), (payloads) => {
      const whole = sheet(payloads, null)
      const { rows } = sheet(payloads, named(whole.keys))
      rows.forEach((row, at) => {
        for (const key of whole.keys) assert.deepEqual(row[key], valueOf(whole.rows[at] ?? {}, key), key)
      })
    }),
  )
})

const valueOf = (row: Row, key: string): unknown => (Object.hasOwn(row, key) ? row[key] : null)

test('with a view a row is _id and exactly the columns of the view', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), names, (payloads, keys) => {
      for (const row of sheet(payloads, named(keys)).rows)
        assert.deepEqual(new Set(Object.keys(row)), new Set(['_id', ...keys]))
    }),
  )
})

test('a view may show the meta columns and the columns of the payload, and a value with inner columns is missing', () => {
  const view = named(['_received_at', '_source', '\\_id', 'a', 'e', 'value'])
  const { rows } = sheet([{ _id: 'own', a: { b: 1 }, e: [] }, 7], view)
  assert.deepEqual(rows, [
    { _id: 'rec_0', _received_at: 't0', _source: 'endpoint_url', '\\_id': 'own', a: null, e: [], value: null },
    { _id: 'rec_1', _received_at: 't1', _source: 'endpoint_url', '\\_id': null, a: null, e: null, value: 7 },
  ])
})

test('a payload cannot forge a meta column, and __proto__ is an ordinary column', () => {
  const parsed = parseJson('{"_id":"x","_source":1,"__proto__":{"a":1},"a":1}')
  assert.ok(parsed.ok)
  const { rows, keys } = sheet([parsed.value], null)
  assert.deepEqual(keys, ['\\_id', '\\_source', '__proto__.a', 'a'])
  assert.equal(rows[0]?.['_id'], 'rec_0')
})

test('a row is added as a whole or not at all, and a later, shorter row still fits', () => {
  const long = { a: 'x'.repeat(500) }
  const { rows, went, keys } = sheet([{ a: 1 }, long, { a: 2 }], null, 300)
  assert.deepEqual(went, [true, false, true])
  assert.deepEqual([rows.map((row) => row['a']), keys], [[1, 2], ['a']])
  assert.deepEqual(sheet([long, { a: 2 }], named(['a']), 300).went, [false, true])
})

test('the columns of payloads are found once each, and a payload whose columns are too long is not complete', () => {
  const { keys, lists, complete } = columnsIn(['{"a":1,"b":{"c":2}}', null, '{"b":{"c":3},"d":[]}'])
  assert.deepEqual(keys, ['a', 'b.c', 'd'])
  assert.deepEqual(
    lists.map((list) => [...list]),
    [[0, 1], [], [1, 2]],
  )
  assert.deepEqual(complete, [true, true, true])
  const long = 'k'.repeat(LIMITS.columnsCharsMax)
  const cut = columnsIn([stringifyJson({ a: 1, [long]: 2, b: 3 }), '{"a":1}'])
  assert.deepEqual(
    [cut.keys, cut.complete],
    [
      ['a', 'b'],
      [false, true],
    ],
  )
})
