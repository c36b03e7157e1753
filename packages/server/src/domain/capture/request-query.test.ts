import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { queryMembers } from '@postroad/contract/plain'
import { storedQuery } from './request-query.ts'

const SLUG = 'aB3xY9kLmN0pQrStUvWxYz12'

describe('a query string is stored as received, without credentials', () => {
  const CASES: Readonly<Record<string, readonly [target: string, stored: string | null]>> = {
    'no query': ['/a/b/c', null],
    'an empty one': ['/a/b/c?', null],
    'escapes, order, repeats and empty parts': [
      '/a?tenant=ac%20me&tag=b&tag=a&&=x&flag',
      'tenant=ac%20me&tag=b&tag=a&&=x&flag',
    ],
    'a second question mark': ['/a?to=b?c=d', 'to=b?c=d'],
    'a token': ['/a?tenant=acme&token=hush&ref=1', 'tenant=acme&token=•••&ref=1'],
    'names with a word of credentials': [
      '/a?access_token=1&apiKey=2&api_key=3&x.secret=4&pass%77ord=5&tokenizer=6',
      'access_token=•••&apiKey=•••&api_key=•••&x.secret=•••&pass%77ord=•••&tokenizer=6',
    ],
    'the key of a stream': ['/a?key=anything', 'key=•••'],
    'the credential of the request in a value': [`/a?from=https%3A%2F%2Fx%2F${SLUG}&b=1`, 'from=•••&b=1'],
    'an escaped part beside a credential': [`/a?u=%2Fx%2F${SLUG}%26b%3D1&c=2`, 'u=•••&c=2'],
    'a credential as a name': [`/a?${SLUG}&b=1`, '•••&b=1'],
    'a key without a value': ['/a?ik_live_abcDEF123456', '•••'],
  }
  for (const [name, [target, stored]] of Object.entries(CASES)) {
    test(name, () => assert.equal(storedQuery(target, SLUG), stored))
  }
})

test('the members of a query string are decoded, and a name that occurs several times has a list', () => {
  const members = queryMembers('tenant=ac%20me+x&tag=b&tag=a&tag=c&flag&__proto__=1')
  assert.deepEqual({ ...members }, { tenant: 'ac me x', tag: ['b', 'a', 'c'], flag: '', ['__proto__']: '1' })
  assert.deepEqual({ ...queryMembers(null) }, {})
})
