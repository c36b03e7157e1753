import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import * as fc from 'fast-check'
import { flatten } from './flatten.ts'
import { parseJson, stringifyJson } from './json-text.ts'
import { recordSheet, type SheetRecord, type SheetView } from './record-sheet.ts'

const recordsOf = (payloads: readonly unknown[]): SheetRecord[] =>
  payloads.map((payload, at) => ({ id: `rec_${at}`, received_at: `t${at}`, source: 'endpoint_url', payload, chars: 10 }))

const by = (key: string | null, dir: 'asc' | 'desc' = 'asc', columns: readonly string[] = ['v']): SheetView => ({
  columns: columns.map((name) => ({ key: name, label: name })),
  sort_key: key,
  sort_dir: dir,
})

const column = (payloads: readonly unknown[], view: SheetView): unknown[] =>
  recordSheet(recordsOf(payloads), { view, limit: 1_000 }).rows.map((row) => row['v'])

const leaf = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.string(), fc.boolean(), fc.constant(null))
const payload = fc.dictionary(fc.string({ minLength: 1, maxLength: 4 }), fc.oneof(leaf, fc.array(leaf, { maxLength: 3 }), fc.dictionary(fc.string({ maxLength: 3 }), leaf)), {
  maxKeys: 5,
})

test('without a view a row is the meta columns and the flattened payload, and the columns are the keys of all rows', () => {
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), (payloads) => {
      const { columns, available_columns, rows } = recordSheet(recordsOf(payloads), { view: null, limit: 1_000 })
      const keys = new Set(payloads.flatMap((one) => Object.keys(flatten(one))).filter((key) => !['_id', '_received_at', '_source'].includes(key)))
      assert.deepEqual(new Set(columns.map(({ key }) => key)), keys)
      assert.equal(columns.length, keys.size)
      assert.deepEqual(available_columns, columns)
      rows.forEach((row, at) => {
        const { _id, _received_at, _source, ...rest } = row
        const { _id: _1, _received_at: _2, _source: _3, ...flat } = flatten(payloads[at])
        assert.deepEqual([_id, _received_at, _source, rest], [`rec_${at}`, `t${at}`, 'endpoint_url', flat])
      })
    }),
  )
})

test('with a view a row is _id and exactly the columns of the view, and the available columns stay the same', () => {
  const keys = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fc.array(payload, { maxLength: 8 }), keys, fc.nat({ max: 10 }), (payloads, names, limit) => {
      const view = by(names[0] ?? null, 'asc', names)
      const sheet = recordSheet(recordsOf(payloads), { view, limit })
      assert.deepEqual(sheet.columns, view.columns)
      assert.deepEqual(sheet.available_columns, recordSheet(recordsOf(payloads), { view: null, limit: 1 }).columns)
      assert.equal(sheet.rows.length, Math.min(limit, payloads.length))
      for (const row of sheet.rows) assert.deepEqual(new Set(Object.keys(row)), new Set(['_id', ...names]))
    }),
  )
})

test('sorting loses and makes no row, is stable, and what is missing is last in both directions', () => {
  const value = fc.option(fc.oneof(leaf, fc.integer().map(String)), { nil: undefined })
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), fc.constantFrom('asc' as const, 'desc' as const), (values, dir) => {
      const records = recordsOf(values.map((v) => (v === undefined ? {} : { v })))
      const { rows } = recordSheet(records, { view: by('v', dir), limit: 1_000 })
      assert.deepEqual(rows.map((row) => String(row['_id'])).toSorted(), records.map(({ id }) => id).toSorted())
      const present = rows.map((row) => row['v'] !== null)
      assert.deepEqual(present, present.toSorted((a, b) => Number(b) - Number(a)))
      const numbers = rows.map((row) => row['v']).filter((v) => typeof v === 'number')
      assert.deepEqual(numbers, numbers.toSorted((a, b) => (dir === 'asc' ? a - b : b - a)))
      const again = recordSheet(records, { view: by('v', dir), limit: 1_000 }).rows
      assert.deepEqual(again, rows)
    }),
  )
})

test('numbers are sorted as numbers, also those in text and those beyond 2^53', () => {
  assert.deepEqual(column([{ v: 10 }, { v: 9 }, { v: '8' }, { v: 1e3 }], by('v')), ['8', 9, 10, 1000])
  const parsed = parseJson('[{"v":12345678901234567891},{"v":12345678901234567890},{"v":1e400},{"v":1.50}]')
  assert.ok(parsed.ok && Array.isArray(parsed.value))
  assert.equal(stringifyJson(column(parsed.value, by('v'))), '[1.50,12345678901234567890,12345678901234567891,1e400]')
})

test('numbers before text before true and false; desc turns it round; null and missing stay last', () => {
  const payloads = [{ v: null }, { v: true }, { v: 'b' }, {}, { v: 2 }, { v: 'a' }, { v: false }]
  assert.deepEqual(column(payloads, by('v')), [2, 'a', 'b', false, true, null, null])
  assert.deepEqual(column(payloads, by('v', 'desc')), [true, false, 'b', 'a', 2, null, null])
})

test('equal ones, and all without a sort key, stay newest first', () => {
  const payloads = [{ v: 1, n: 0 }, { v: 0, n: 1 }, { v: 1, n: 2 }]
  const ids = (view: SheetView): unknown[] => recordSheet(recordsOf(payloads), { view, limit: 9 }).rows.map((row) => row['_id'])
  assert.deepEqual(ids(by('v', 'desc')), ['rec_0', 'rec_2', 'rec_1'])
  assert.deepEqual(ids(by(null, 'desc')), ['rec_0', 'rec_1', 'rec_2'])
})

test('a view may show and sort by the meta columns', () => {
  const view = by('_received_at', 'desc', ['_received_at', '_source'])
  assert.deepEqual(recordSheet(recordsOf([{}, {}]), { view, limit: 9 }).rows, [
    { _id: 'rec_1', _received_at: 't1', _source: 'endpoint_url' },
    { _id: 'rec_0', _received_at: 't0', _source: 'endpoint_url' },
  ])
})

test('a payload cannot forge a meta column, and __proto__ is a column like any other', () => {
  const parsed = parseJson('{"_id":"x","_source":1,"__proto__":{"a":1},"a":1}')
  assert.ok(parsed.ok)
  const { rows, columns } = recordSheet(recordsOf([parsed.value]), { view: null, limit: 9 })
  assert.deepEqual(columns.map(({ key }) => key), ['__proto__.a', 'a'])
  assert.equal(rows[0]?.['_id'], 'rec_0')
})

test('a table is bounded although few bytes of payload can make long keys', () => {
  const deep = { ['k'.repeat(200)]: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [at, 1])) }
  const sheet = recordSheet(recordsOf(Array.from({ length: 1_000 }, () => deep)), { view: null, limit: 1_000 })
  const chars = sheet.rows.length * Object.keys(sheet.rows[0] ?? {}).join('').length
  assert.ok(sheet.rows.length > 10)
  assert.ok(chars < 2 * LIMITS.storedPayloadsReadBytesMax)
})
