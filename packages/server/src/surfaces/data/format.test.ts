import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatOf } from './format.ts'

const ALL = ['json', 'ndjson', 'csv', 'parquet'] as const

test('the format of a response follows Accept: quality first, then how specific a range is, then its place', () => {
  for (const [accept, format] of [
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/json', 'json'],
    ['TEXT/CSV', 'csv'],
    ['text/*', 'csv'],
    ['text/html, application/x-ndjson', 'ndjson'],
    ['text/csv;q=0.5, application/vnd.apache.parquet', 'parquet'],
    ['text/csv; q=0.9, application/json; q=0.8', 'csv'],
    ['*/*;q=0.1, text/csv', 'csv'],
    ['application/json;q=0, */*', 'ndjson'],
    ['text/csv, application/x-ndjson', 'csv'],
    ['image/png', undefined],
    ['*/*;q=0', undefined],
  ] as const)
    assert.equal(formatOf(accept, ALL), format, String(accept))
})
