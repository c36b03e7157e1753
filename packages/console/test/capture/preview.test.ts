import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewOf } from '../../src/screens/capture/events/preview.ts'
import { readJson } from '../../src/ui/raw-number.ts'

test('the row of an event shows what tells it from others: short fields, also of the objects in it, ids last', () => {
  const order = { type: 'order.created', id: 'evt_1', order: { id: 7, total: 12.5, customer: { name: 'Ada' } } }
  assert.deepEqual(previewOf(order), [
    ['order.total', '12.5'],
    ['id', 'evt_1'],
    ['order.id', '7'],
  ])
})

test('an object that only wraps is looked through, and its name is left out', () => {
  assert.deepEqual(previewOf({ type: 'charge', data: { object: { amount: 5, card: { brand: 'visa' } } } }), [
    ['amount', '5'],
    ['card.brand', 'visa'],
  ])
})

test('of a payload that is no object there is its value, or how many items it has', () => {
  assert.deepEqual([previewOf(null), previewOf(5), previewOf([1, 2])], [[['', 'null']], [['', '5']], [['items', '2']]])
})

test('numbers stand in the row of an event digit for digit, beyond 2^53 too', () => {
  assert.deepEqual(
    previewOf(readJson('{"total":9007199254740993,"price":12.50,"order":{"no":123456789012345678901}}')),
    [
      ['total', '9007199254740993'],
      ['price', '12.50'],
      ['order.no', '123456789012345678901'],
    ],
  )
  assert.deepEqual(previewOf(readJson('9007199254740993')), [['', '9007199254740993']])
})
