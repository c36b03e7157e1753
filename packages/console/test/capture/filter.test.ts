import assert from 'node:assert/strict'
import { test } from 'node:test'
import { meets, valueAt } from '../../src/data/filter.ts'
import { readJson } from '../../src/ui/raw-number.ts'

const EVENT = readJson('{"total":9007199254740993,"price":1.50}')

test('what the tail brings is compared as the server compares: beyond 2^53 by digits, below as numbers', () => {
  assert.equal(meets(EVENT, { path: 'total', op: 'equals', value: '9007199254740993' }), true)
  assert.equal(meets(EVENT, { path: 'total', op: 'equals', value: '9007199254740992' }), false, 'a neighbour')
  assert.equal(meets(EVENT, { path: 'total', op: 'not_equals', value: '9007199254740993' }), false)
  assert.equal(meets(EVENT, { path: 'total', op: 'in', value: '1,9007199254740993' }), true)
  for (const value of ['1.5', '1.50']) assert.equal(meets(EVENT, { path: 'price', op: 'equals', value }), true)
  assert.equal(meets(EVENT, { path: 'total', op: 'gt', value: '1000' }), true)
  assert.equal(meets(EVENT, { path: 'price', op: 'lt', value: '1.5' }), false)
})

test('a number has nothing below it, however it is kept', () => {
  assert.equal(valueAt(EVENT, 'total.text'), undefined)
  assert.equal(meets(EVENT, { path: 'total.text', op: 'exists', value: '' }), false)
})
