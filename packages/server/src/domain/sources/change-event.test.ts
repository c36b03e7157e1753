import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeJson, type Change } from './change-event.ts'
import { valueJson } from './postgres-json.ts'

test('values are written as row_to_json writes them, without a lost digit', () => {
  const cases: readonly [number, string | null, string][] = [
    [20, '9007199254740993', '9007199254740993'],
    [1_700, '12345678901234567890.10', '12345678901234567890.10'],
    [1_700, 'NaN', '"NaN"'],
    [701, '-Infinity', '"-Infinity"'],
    [16, 't', 'true'],
    [25, null, 'null'],
    [3_802, '{"a": 1.00}', '{"a": 1.00}'],
    [1_184, '2026-01-01 00:00:00.123456+00', '"2026-01-01T00:00:00.123456+00:00"'],
    [1_114, '2026-01-01 00:00:00', '"2026-01-01T00:00:00"'],
    [1_114, 'infinity', '"infinity"'],
    [1_007, '{1,NULL,3}', '[1,null,3]'],
    [1_007, '{{1,2},{3,4}}', '[[1,2],[3,4]]'],
    [1_007, '[0:1]={1,2}', '[1,2]'],
    [1_007, '{}', '[]'],
    [1_009, '{"a \\"b\\" \\\\",NULL,"NULL",c}', '["a \\"b\\" \\\\",null,"NULL","c"]'],
    [3_807, '{"{\\"a\\": [1]}"}', '[{"a": [1]}]'],
    [17, '\\xff', '"\\\\xff"'],
    [99_999, 'shipped', '"shipped"'],
  ]
  for (const [type, text, json] of cases) assert.equal(valueJson(text, type), json, `${type} ${text}`)
})

const change: Change = {
  operation: 'update',
  schema: 'public',
  table: 'orders',
  columns: [
    { name: 'id', typeOid: 23 },
    { name: 'note', typeOid: 25 },
  ],
  row: { id: '2' },
  old: { id: '1' },
  lsn: '0/16B3748',
  index: 3,
  committedAt: 1_767_225_600_123_456n,
}

test('a change has the same members for every operation, and names the columns that PostgreSQL did not send', () => {
  assert.equal(
    changeJson(change),
    '{"operation":"update","schema":"public","table":"orders","row":{"id":2},"old":{"id":1},"unchanged":["note"],' +
      '"lsn":"0/16B3748","index":3,"committed_at":"2026-01-01T00:00:00.123456Z"}',
  )
  assert.deepEqual(JSON.parse(changeJson({ ...change, operation: 'delete', row: null })).row, null)
})
