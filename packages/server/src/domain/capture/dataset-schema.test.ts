import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { parseStoredJson } from '../json/json-text.ts'
import {
  columnsOf,
  emptySchema,
  learn,
  readSchema,
  schemaText,
  type DatasetSchema,
  type Drift,
} from './dataset-schema.ts'

let at = 0
function read(schema: DatasetSchema, text: string): readonly Drift[] {
  const parsed = parseStoredJson(text)
  assert.ok(parsed.ok)
  at += 1_000
  return learn(schema, { payload: parsed.value, at })
}

function known(text: string, times: number): DatasetSchema {
  const schema = emptySchema()
  for (let n = 0; n < times; n += 1) assert.deepEqual(read(schema, text), [])
  return schema
}

const typesAt = (schema: DatasetSchema, path: string): unknown => schema.fields.get(path)?.types

test('a schema counts each path once for a record, with its types', () => {
  const schema = emptySchema()
  read(
    schema,
    '{"id":1,"total":1.5,"tags":["a","b",null],"buyer":{"name":"Ada","e.mail":null},"big":12345678901234567890}',
  )
  read(schema, '{"id":"x","tags":[],"buyer":{},"_id":true}')
  assert.equal(schema.read, 2)
  assert.deepEqual(
    [...schema.fields.keys()],
    ['id', 'total', 'tags', 'tags[]', 'buyer', 'buyer.name', String.raw`buyer.e\.mail`, 'big', String.raw`\_id`],
  )
  assert.deepEqual(typesAt(schema, 'id'), { integer: 1, string: 1 })
  assert.deepEqual(typesAt(schema, 'tags[]'), { string: 1, null: 1 })
  assert.deepEqual(typesAt(schema, 'big'), { integer: 1 })
  assert.deepEqual(schema.fields.get('tags')?.seen, 2)
})

test('the first records are not a change, and a new field or type in a later record is one', () => {
  const schema = known('{"id":1}', 20)
  assert.deepEqual(read(schema, '{"id":1.5,"name":"Ada"}'), [{ kind: 'field_added', path: 'name', type: 'string' }])
  assert.deepEqual(read(schema, '{"id":"1"}'), [{ kind: 'type_added', path: 'id', type: 'string' }])
  assert.deepEqual(read(schema, '{"id":"1"}'), [])
  assert.deepEqual(read(schema, '{"id":null}'), [{ kind: 'type_added', path: 'id', type: 'null' }])
})

test('a field that nearly every record had is reported as gone once, after 50 records without it, and can come back', () => {
  const schema = known('{"id":1,"total":2}', 20)
  const drifts = Array.from({ length: 120 }, () => read(schema, '{"id":1}')).flat()
  assert.deepEqual(drifts, [{ kind: 'field_gone', path: 'total', type: null }])
  assert.notEqual(schema.fields.get('total')?.gone_at, null)
  assert.deepEqual(read(schema, '{"id":1,"total":3}'), [{ kind: 'field_back', path: 'total', type: null }])
  assert.equal(schema.fields.get('total')?.gone_at, null)
})

test('a field that only some records had is never gone', () => {
  const schema = emptySchema()
  for (let n = 0; n < 40; n += 1) read(schema, n % 2 === 0 ? '{"id":1,"coupon":"x"}' : '{"id":1}')
  assert.deepEqual(Array.from({ length: 100 }, () => read(schema, '{"id":1}')).flat(), [])
})

test('a schema is bounded in fields, in the length of a path and in the size of one record', () => {
  const wide = emptySchema()
  for (let n = 0; n < 2; n += 1)
    read(wide, JSON.stringify(Object.fromEntries(Array.from({ length: 400 }, (_, key) => [`k${n}_${key}`, 1]))))
  assert.equal(wide.fields.size, LIMITS.datasetFieldsMax)
  assert.ok(wide.cut)

  const long = emptySchema()
  read(long, JSON.stringify({ ['k'.repeat(300)]: 1, short: 1 }))
  assert.deepEqual([...long.fields.keys()], ['short'])
  assert.ok(long.cut)

  const many = emptySchema()
  read(many, JSON.stringify({ list: Array.from({ length: 6_000 }, () => 1), last: 1 }))
  assert.deepEqual([...many.fields.keys()], ['list', 'list[]'])
  assert.ok(many.cut)
})

test('a payload that is not an object has a field too', () => {
  const schema = emptySchema()
  read(schema, '"text"')
  read(schema, '[1,{"a":2}]')
  assert.deepEqual([...schema.fields.keys()], ['value', '[]', '[].a'])
})

test('a schema that is stored and read again is unchanged', () => {
  const schema = known('{"id":1,"__proto__":{"x":"y"}}', 3)
  assert.deepEqual(readSchema(schemaText(schema)), schema)
})

test('the columns are the values outside lists, in the order of their first occurrence', () => {
  const schema = emptySchema()
  read(schema, '{"b":1,"a":{"c":"x","d":{}},"list":[{"x":1}]}')
  read(schema, '{"z":null}')
  assert.deepEqual(
    columnsOf(schema).map(({ path }) => path),
    ['b', 'a.c', 'list', 'z'],
  )
})
