import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filterOf } from '../../src/screens/workspace/audit/search.ts'

test('the last day of the filter counts in full, even if a clock change makes it 25 or 23 hours long', () => {
  const zone = process.env['TZ']
  process.env['TZ'] = 'Europe/Berlin'
  try {
    assert.deepEqual(filterOf({ from: '2026-10-25', to: '2026-10-25' }), {
      from: '2026-10-24T22:00:00.000Z',
      to: '2026-10-25T23:00:00.000Z',
    })
    assert.equal(filterOf({ to: '2026-03-29' }).to, '2026-03-29T22:00:00.000Z')
    assert.deepEqual(filterOf({ from: 'yesterday' }), {})
  } finally {
    if (zone === undefined) delete process.env['TZ']
    else process.env['TZ'] = zone
  }
})
