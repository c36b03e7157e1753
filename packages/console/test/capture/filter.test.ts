import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isHalfTyped,
  meets as meetsAny,
  quotedText,
  typedFilter,
  valueAt,
  type Filter,
} from '@postroad/contract/filter'
import { Patterns } from '../../src/data/patterns.ts'
import { readJson } from '@postroad/contract/raw-number'

const meets = (data: unknown, filter: Filter): boolean => meetsAny({ data }, filter, () => undefined)
const EVENT = readJson('{"total":9007199254740993,"price":1.50}')

test('the tail compares as the server does: numbers beyond 2^53 by their digits, smaller ones as numbers', () => {
  assert.equal(meets(EVENT, { path: 'total', op: 'equals', value: '9007199254740993' }), true)
  assert.equal(meets(EVENT, { path: 'total', op: 'equals', value: '9007199254740992' }), false, 'a neighbor')
  assert.equal(meets(EVENT, { path: 'total', op: 'not_equals', value: '9007199254740993' }), false)
  assert.equal(meets(EVENT, { path: 'total', op: 'in', value: '1,9007199254740993' }), true)
  for (const value of ['1.5', '1.50']) assert.equal(meets(EVENT, { path: 'price', op: 'equals', value }), true)
  assert.equal(meets(EVENT, { path: 'total', op: 'gt', value: '1000' }), true)
  assert.equal(meets(EVENT, { path: 'price', op: 'lt', value: '1.5' }), false)
})

test('a path into the request reads the request, and a credential that is masked meets no condition', () => {
  const request = {
    method: 'POST',
    path: '/acme/•••',
    query: 'tag=a&tag=b&token=•••',
    headers: { 'x-topic': 'orders', authorization: '•••' },
  }
  const finds = (path: string, op: Filter['op'], value: string): boolean =>
    meetsAny({ data: { $request: { method: 'PUT' } }, request }, { path, op, value }, () => undefined)
  assert.equal(finds('$request.headers.x-topic', 'equals', 'orders'), true)
  assert.equal(finds('$request.query.tag', 'contains', 'b'), true)
  assert.equal(finds('$request.method', 'equals', 'POST'), true)
  assert.equal(finds(String.raw`\$request.method`, 'equals', 'PUT'), true)
  assert.equal(finds('$request.path', 'contains', '/acme/'), true)
  for (const path of ['$request.headers.authorization', '$request.query.token'])
    for (const op of ['not_equals', 'exists', 'contains'] as const) assert.equal(finds(path, op, '•'), false, path)
  assert.equal(meets({}, { path: '$request.method', op: 'equals', value: 'POST' }), false, 'no request is known')
})

test('a number has no members in any stored form', () => {
  assert.equal(valueAt(EVENT, 'total.text'), undefined)
  assert.equal(meets(EVENT, { path: 'total.text', op: 'exists', value: '' }), false)
})

const PATHS = ['total', 'order.type']

test('the page does not search for an incomplete condition as text', () => {
  for (const text of [
    'total >',
    'total > ',
    'total>',
    'total >=',
    'total !',
    'total !=',
    'total =',
    'total contains',
    'total in ',
    'total exis',
  ])
    assert.equal(isHalfTyped(text, PATHS), true, text)
  for (const text of ['order.type:', 'order.type:eq', 'unknown:equals', 'unknown:equals:'])
    assert.equal(isHalfTyped(text, PATHS), true, text)
})

test('the page searches for words unless they follow a path of the payloads', () => {
  for (const text of ['total', 'log in', 'it contains', 'Ada Lovelace', 'urn:is', '> 5', '', 'a > b'])
    assert.equal(isHalfTyped(text, PATHS), false, text)
})

test('the page searches for text in quotes, even if it looks like a condition', () => {
  assert.equal(typedFilter('"total > 5"'), undefined)
  assert.equal(quotedText('"total > 5"'), 'total > 5')
  assert.deepEqual(typedFilter('total > 5'), { path: 'total', op: 'gt', value: '5' })
  assert.deepEqual(typedFilter('name = "a b"'), { path: 'name', op: 'equals', value: 'a b' })
})

test('the page asks about many texts together and about each text once, and sends only its first 256 characters', async () => {
  const asked: string[][] = []
  const patterns = new Patterns((pattern, texts) => {
    asked.push([pattern, ...texts])
    return Promise.resolve(texts.map((text) => text.startsWith('yes')))
  })
  const heard = new Promise<void>((resolve) => patterns.subscribe(resolve))
  const check = (name: string): boolean =>
    meetsAny({ data: { name } }, { path: 'name', op: 'regex', value: '^yes' }, patterns.matches)
  assert.deepEqual(
    [check('yes 1'), check('no'), check('yes 1'), check(`yes${'x'.repeat(300)}`)],
    [false, false, false, false],
  )
  await heard
  assert.deepEqual(asked, [['^yes', 'yes 1', 'no', `yes${'x'.repeat(253)}`]])
  assert.deepEqual([check('yes 1'), check('no'), check(`yes${'x'.repeat(300)}`)], [true, false, true])
  assert.equal(asked.length, 1)
})
