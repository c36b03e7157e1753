import assert from 'node:assert/strict'
import { test } from 'node:test'
import { previewOf, titleOf } from '../../src/parts/preview.ts'
import { readJson } from '@postroad/contract/raw-number'

test('the row of an event shows the fields that distinguish it: short ones, including those of its objects, with ids last', () => {
  const order = { type: 'order.created', id: 'evt_1', order: { id: 7, total: 12.5, customer: { name: 'Ada' } } }
  assert.deepEqual(previewOf(order), [
    ['order.total', '12.5'],
    ['id', 'evt_1'],
    ['order.id', '7'],
  ])
})

test('the row shows the fields of an object that only wraps them, without its name', () => {
  assert.deepEqual(previewOf({ type: 'charge', data: { object: { amount: 5, card: { brand: 'visa' } } } }), [
    ['amount', '5'],
    ['card.brand', 'visa'],
  ])
})

test('the row of a payload that is not an object shows its value, or the number of its items', () => {
  assert.deepEqual([previewOf(null), previewOf(5), previewOf([1, 2])], [[['', 'null']], [['', '5']], [['items', '2']]])
})

test('the row of an event shows every digit of a number, even beyond 2^53', () => {
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

const event = (data: unknown, header_title: string | null = null) => ({ dataset: 'events', data, header_title })

test('the title of an event comes from its sender: from a header, from the path of its endpoint, or from a known field', () => {
  assert.equal(titleOf(event({ type: 'a' }, 'push'), null), 'push')
  assert.equal(titleOf(event({ type: 'a', event: { type: 'app_mention' } }), { path: 'event.type' }), 'app_mention')
  assert.equal(titleOf(event({ type: 'order.created', name: 'Ada' }), null), 'order.created')
  assert.equal(titleOf(event({ type: 'order.created' }), { path: 'not.there' }), 'order.created')
  assert.equal(titleOf(event({ id: 7 }), { path: 'id' }), '7')
})

test('an event without a title has the name of its dataset, never that of a person', () => {
  assert.equal(titleOf({ dataset: 'customers', data: { name: 'Ada Lovelace' } }, null), 'customers')
  assert.equal(titleOf({ dataset: 'customers', data: { type: 'x'.repeat(81) } }, undefined), 'customers')
  assert.equal(titleOf({ dataset: 'customers', data: [1] }, undefined), 'customers')
})

test('a field that is not the title stays in the row', () => {
  assert.deepEqual(previewOf({ action: 'opened', number: 5 }, 'pull_request'), [
    ['number', '5'],
    ['action', 'opened'],
  ])
})
