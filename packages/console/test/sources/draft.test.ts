import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draftOfSource, settingsOf } from '../../src/screens/sources/sources/draft.ts'

const startOf = (value: string | number): unknown => {
  const source = {
    name: 'Orders',
    dataset: 'orders',
    conditions: [],
    customer: null,
    settings: {
      kind: 'postgres',
      tls: { mode: 'verify', ca: null },
      query: 'select * from orders',
      cursor_column: 'id',
      key_column: null,
      start: { value },
      poll_seconds: 60,
      batch_limit: 100,
      lag_seconds: 0,
    },
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the members that the form reads
  const read = settingsOf(draftOfSource(source as unknown as Parameters<typeof draftOfSource>[0]))
  return 'settings' in read && 'start' in read.settings ? read.settings.start : read
}

test('a form that was opened and saved sends the stored start value, because another one starts the source over', () => {
  for (const value of [42, 1.5, -7, 1e21, '42', '00042', '1.50', '2026-01-31T00:00:00Z', '"42"', ' a ', '', 'NaN'])
    assert.deepEqual(startOf(value), { value }, JSON.stringify(value))
})
