import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { maskCredentials, mayContainCredentials } from './mask-credentials.ts'

const SLUG = 'aB3xY9kLmN0pQrStUvWxYz12'
const escaped = (text: string): string => Array.from(text, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join('')

describe('the credential is masked', () => {
  const CASES: Readonly<Record<string, readonly [text: string, masked: string]>> = {
    'in a path': [`/acme/default/${SLUG}/orders`, '/acme/default/•••/orders'],
    'in a URL, twice': [`https://a.example/x/y/${SLUG}?from=${SLUG}`, 'https://a.example/x/y/•••?from=•••'],
    'in the other case': [`/acme/default/${SLUG.toUpperCase()}`, '/acme/default/•••'],
    'behind escapes': [`/acme/default/${escaped(SLUG)}?a=%20`, '/acme/default/•••?a= '],
    'behind escapes of escapes': [`/acme/default/${escaped(SLUG).replaceAll('%', '%25')}`, '/acme/default/•••'],
    'partly behind escapes': [`/acme/default/${escaped(SLUG.slice(0, 3))}${SLUG.slice(3)}`, '/acme/default/•••'],
    'an ingest key': [
      'https://a.example/v1/ingest/ik_live_abcDEF123456/orders',
      'https://a.example/v1/ingest/ik_live_•••/orders',
    ],
    'an ingest key in a query': ['/v1/stream?key=anything&dataset=a', '/v1/stream?key=•••&dataset=a'],
    'a verify token': [
      '/a/b/c?hub.mode=subscribe&hub.verify_token=hush%20hush&hub.challenge=1',
      '/a/b/c?hub.mode=subscribe&hub.verify_token=•••&hub.challenge=1',
    ],
    'the URL of another endpoint': [
      'https://a.example/acme/default/Zz3xY9kLmN0pQrStUvWxYz12Ab/orders',
      'https://a.example/acme/default/•••/orders',
    ],
    'a signing secret': ['x whsec_ab/cd+ef==', 'x whsec_•••'],
    'an admin key': ['Bearer hk_abcDEF123456', 'Bearer hk_•••'],
  }
  for (const [name, [text, masked]] of Object.entries(CASES)) {
    test(name, () => {
      assert.equal(maskCredentials(text, SLUG), masked)
      assert.ok(mayContainCredentials(text, SLUG))
    })
  }
})

describe('a text without a credential stays unchanged', () => {
  for (const text of [
    '',
    'https://a.example/100%25/x?monkey=1',
    '100% pure',
    'text/html;q=0.9',
    '/x?a=%zz',
    'a_key',
    'hk_',
    'Ünï/cödé',
    '/x/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    '/rec_01kf0rdqg0e31tkzsaqv275w2x',
  ]) {
    test(JSON.stringify(text), () => assert.equal(maskCredentials(text, SLUG), text))
  }
})
